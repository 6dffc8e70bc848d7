#include "services/jobs/new_jobs.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/text/proto_bytes.h"
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

// Its spec as it will be kept, but for the rules of its queue. `bytes` are the
// spec's.
absl::StatusOr<spec::SpecCache::ResolvedPtr> Resolve(
    const NewJobContext& context, const JobSpec& spec,
    const std::string& bytes) {
  if (!NamesAModel(spec)) return context.specs.Resolve(spec, bytes);
  Violations violations;
  JobSpec filled = spec;
  FillModel(context.scheduler, &filled, &violations);
  auto resolved =
      context.specs.Resolve(filled, base::DeterministicBytes(filled));
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
  const JobSpec& spec = request.job().spec();
  const std::string bytes = base::DeterministicBytes(spec);
  job.name = spec.name();
  job.request_id = request.request_id();
  job.fingerprint = base::Sha256Hex(bytes);
  job.owner = call->owner;
  const auto resolved = Resolve(call->context, spec, bytes);
  Violations of_spec = base::FieldViolations(resolved.status());
  if (resolved.ok()) {
    job.notices = (*resolved)->notices;
    CheckModels(call->context.scheduler, *(*resolved)->spec, &job.notices,
                &of_spec);
  }
  if (!resolved.ok() || !of_spec.empty()) {
    AddToSpec(of_spec, violations);
    return job;
  }
  Violations of_queue;
  job.spec = call->queues.Apply((*resolved)->spec, &of_queue);
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
