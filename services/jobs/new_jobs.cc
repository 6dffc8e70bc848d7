#include "services/jobs/new_jobs.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "services/jobs/checkpoint_models.h"
#include "services/jobs/queue_rules.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::BatchCreateJobsRequest;
using ordo::jobs::v1::CreateJobRequest;
using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Owner;
using scheduler::NewJob;
using Violations = std::vector<base::FieldViolation>;

// SHA-256 of what the request asks for, maps in order of their keys. Repeats
// reach the same scheduler, so it need not be the same for all programs.
std::string Fingerprint(const CreateJobRequest& request) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    request.job().spec().SerializeToCodedStream(&coded);
  }
  return base::Sha256Hex(bytes);
}

// "job.spec" and a field of the spec, "" for the spec itself.
std::string SpecField(const std::string& field) {
  return field.empty() ? "job.spec" : absl::StrCat("job.spec.", field);
}

// Adds what is wrong with a spec to what is wrong with its request.
void AddToSpec(const Violations& of_spec, Violations* violations) {
  for (const base::FieldViolation& violation : of_spec) {
    violations->push_back({SpecField(violation.field), violation.description});
  }
}

// Its spec as it will be kept, but for the rules of its queue.
absl::StatusOr<spec::ResolvedSpec> Resolve(const NewJobContext& context,
                                           JobSpec spec) {
  Violations violations;
  FillModel(context.scheduler, &spec, &violations);
  auto resolved = context.specs.Resolve(std::move(spec));
  if (resolved.ok()) {
    CheckModels(context.scheduler, resolved->spec, &resolved->notices,
                &violations);
  }
  for (auto& violation : base::FieldViolations(resolved.status())) {
    violations.push_back(std::move(violation));
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return resolved;
}

// What the jobs of one call share.
struct Call {
  const NewJobContext& context;
  const Owner& owner;
  QueueRules queues{context.scheduler};
};

NewJob Make(const CreateJobRequest& request, Call* call,
            Violations* violations) {
  NewJob job;
  if (request.request_id().size() > kMaxRequestIdLength) {
    violations->push_back(
        {"request_id",
         absl::StrCat("must be at most ", kMaxRequestIdLength,
                      " characters, has ", request.request_id().size())});
  }
  job.request_id = request.request_id();
  job.fingerprint = Fingerprint(request);
  job.owner = call->owner;
  auto resolved = Resolve(call->context, request.job().spec());
  if (!resolved.ok()) {
    AddToSpec(base::FieldViolations(resolved.status()), violations);
    return job;
  }
  job.spec = std::move(resolved->spec);
  job.notices = std::move(resolved->notices);
  Violations of_queue;
  call->queues.Apply(&job.spec, &of_queue);
  if (of_queue.empty()) return job;
  if (job.request_id.empty()) {
    AddToSpec(of_queue, violations);
  } else {
    // It may be the repeat of one that its queue let in.
    Violations refused;
    AddToSpec(of_queue, &refused);
    job.refusal = base::InvalidFields(refused);
  }
  return job;
}

// Adds a violation when `value` was seen before.
void CheckUnique(const std::string& value, const std::string& field,
                 std::map<std::string, std::string>* seen,
                 Violations* violations) {
  const auto [first, added] = seen->emplace(value, field);
  if (!added) {
    violations->push_back(
        {field, absl::StrCat("'", value, "' is that of ", first->second,
                             " too; give each its own")});
  }
}

}  // namespace

absl::StatusOr<NewJob> MakeNewJob(const NewJobContext& context,
                                  const CreateJobRequest& request,
                                  const Owner& owner) {
  Call call{context, owner};
  Violations violations;
  NewJob job = Make(request, &call, &violations);
  if (!violations.empty()) return base::InvalidFields(violations);
  return job;
}

absl::StatusOr<std::vector<NewJob>> MakeNewJobs(
    const NewJobContext& context, const BatchCreateJobsRequest& request,
    const Owner& owner) {
  if (request.requests().empty() || request.requests_size() > kMaxBatch) {
    return base::InvalidField(
        "requests", absl::StrCat("must have 1..", kMaxBatch, " entries, has ",
                                 request.requests_size()));
  }
  Call call{context, owner};
  Violations violations;
  std::vector<NewJob> jobs;
  std::map<std::string, std::string> names;
  std::map<std::string, std::string> request_ids;
  for (int i = 0; i < request.requests_size(); ++i) {
    const CreateJobRequest& one = request.requests(i);
    const std::string path = absl::StrCat("requests[", i, "].");
    Violations found;
    jobs.push_back(Make(one, &call, &found));
    for (const auto& violation : found) {
      violations.push_back({path + violation.field, violation.description});
    }
    if (!one.job().spec().name().empty()) {
      CheckUnique(one.job().spec().name(), path + "job.spec.name", &names,
                  &violations);
    }
    if (!one.request_id().empty()) {
      CheckUnique(one.request_id(), path + "request_id", &request_ids,
                  &violations);
    }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return jobs;
}

}  // namespace ordo::services::jobs
