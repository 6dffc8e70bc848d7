#include "services/checkpoints/import.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log/log.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/catalog/fields.h"
#include "services/request/names.h"

namespace ordo::services::checkpoints {
namespace {

using ordo::checkpoints::v1::Checkpoint;
using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;

// The checkpoint that an earlier import of the same files has made. NOT_FOUND:
// the name is free; ALREADY_EXISTS: it is another's.
absl::StatusOr<Checkpoint> FindImported(const ImportParts& parts,
                                        const ImportOrder& order) {
  ORDO_RETURN_IF_ERROR(parts.whole.GetOwner(order.job));
  const auto checkpoint = parts.scheduler.GetCheckpoint(order.job, "latest");
  if (checkpoint.ok() && checkpoint->origin() == Checkpoint::IMPORTED &&
      checkpoint->manifest_sha256() == order.upload) {
    return checkpoint;
  }
  return absl::AlreadyExistsError(
      absl::StrCat("there is a job ", order.job,
                   " already, with other content, or none since it was "
                   "deleted; names are unique for ever: choose another"));
}

scheduler::NewJob JobOf(const ImportOrder& order,
                        const Uploads::Placed& placed) {
  scheduler::NewJob job;
  job.name = order.job;
  JobSpec& spec = job.OwnSpec();
  spec.set_kind(JobSpec::IMPORT);
  spec.set_queue(order.queue);
  *spec.mutable_model() = placed.contents.model;
  *spec.mutable_encoding() = placed.contents.encoding;
  if (!placed.contents.data.task().empty()) {
    *spec.mutable_data() = placed.contents.data;
  }
  job.request_id = absl::StrCat("uploads/", order.upload, "/", order.job);
  job.fingerprint = order.upload;
  job.owner = order.owner;
  job.imported = placed.checkpoint;
  job.imported->set_imported_by(order.owner.user());
  return job;
}

// The job could not be made: the upload stays for another try.
void GiveUp(const ImportParts& parts, const ImportOrder& order,
            const Uploads::Placed& placed) {
  const absl::Status status =
      parts.uploads.TakeBack(order.upload, order.job, placed);
  if (!status.ok()) {
    base::LogWarning(
        "a folder that was not registered could not be moved back",
        {{"job", order.job}, {"upload", order.upload}, {"error", status}});
  }
}

void Run(const ImportParts& parts, const ImportOrder& order,
         const ImportCallback& done) {
  auto taken =
      parts.uploads.Take({"uploads/" + order.upload, "jobs/" + order.job});
  if (!taken.ok()) return done(taken.status());
  const std::shared_ptr<Uploads::Hold> hold = *std::move(taken);
  // The caller may come back as soon as it is answered.
  const auto answer = [hold, done](absl::StatusOr<Checkpoint> checkpoint) {
    hold->Release();
    done(std::move(checkpoint));
  };
  auto known = FindImported(parts, order);
  if (!absl::IsNotFound(known.status())) return answer(std::move(known));
  const auto placed = parts.uploads.Place(order.upload, order.job);
  if (!placed.ok()) return answer(placed.status());
  std::vector<scheduler::NewJob> jobs;
  jobs.push_back(JobOf(order, *placed));
  // Nobody else touches the folder before it is registered or back.
  parts.scheduler.CreateJobs(
      std::move(jobs), [parts, order, answer, placed = *placed](
                           const absl::StatusOr<std::vector<Job>>& made) {
        if (made.ok()) {
          return answer(parts.scheduler.GetCheckpoint(order.job, "latest"));
        }
        // Not on the scheduler's thread.
        parts.queue.Run([parts, order, answer, placed, status = made.status()] {
          GiveUp(parts, order, placed);
          answer(status);
        });
      });
}

}  // namespace

absl::StatusOr<ImportOrder> ParseImport(
    const ordo::checkpoints::v1::CommitUploadRequest& request,
    const ordo::jobs::v1::Owner& owner) {
  ImportOrder order;
  ORDO_ASSIGN_OR_RETURN(order.upload,
                        request::ParseName("name", "uploads", request.name()));
  if (!model::catalog::IsId(request.job_id())) {
    return base::InvalidField(
        "job_id",
        absl::StrCat(request.job_id().empty() ? "required; " : "must be ",
                     model::catalog::IdRule()));
  }
  order.job = request.job_id();
  order.owner = owner;
  return order;
}

void Import(const ImportParts& parts, const ImportOrder& order,
            const ImportCallback& done) {
  parts.queue.Run([parts, order, done] { Run(parts, order, done); });
}

}  // namespace ordo::services::checkpoints
