#ifndef ORDO_SERVICES_CHECKPOINTS_IMPORT_H_
#define ORDO_SERVICES_CHECKPOINTS_IMPORT_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"
#include "services/checkpoints/uploads.h"
#include "services/files/work_queue.h"

namespace ordo::services::checkpoints {

// All outlive the import.
struct ImportParts {
  // As the caller sees it, and as it is: what is not seen has its name, and its
  // files, all the same.
  scheduler::Scheduler& scheduler;
  const scheduler::Scheduler& whole;
  Uploads& uploads;
  files::WorkQueue& queue;
};

// An upload to make a checkpoint of, under a job of this id.
struct ImportOrder {
  std::string upload;
  std::string job;
  ordo::jobs::v1::Owner owner;
  // Id of the job's queue.
  std::string queue = scheduler::kDefaultQueue;
};

// INVALID_ARGUMENT names the field that is wrong.
absl::StatusOr<ImportOrder> ParseImport(
    const ordo::checkpoints::v1::CommitUploadRequest& request,
    const ordo::jobs::v1::Owner& owner);

using ImportCallback =
    std::function<void(absl::StatusOr<ordo::checkpoints::v1::Checkpoint>)>;

// Does what CommitUpload says, on the queue; `done` is called on a thread of
// the queue or of the scheduler, when the checkpoint is durable and registered.
// Whatever ends the process in the middle: a repeat goes on from there.
void Import(const ImportParts& parts, const ImportOrder& order,
            const ImportCallback& done);

}  // namespace ordo::services::checkpoints

#endif  // ORDO_SERVICES_CHECKPOINTS_IMPORT_H_
