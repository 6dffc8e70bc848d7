#ifndef ORDO_SERVICES_JOBS_NEW_JOBS_H_
#define ORDO_SERVICES_JOBS_NEW_JOBS_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"
#include "services/files/registered_file.h"
#include "services/spec/spec_cache.h"

namespace ordo::services::jobs {

inline constexpr size_t kMaxRequestIdLength = 128;
inline constexpr int kMaxBatch = 10'000;

// What new jobs are made with.
struct NewJobContext {
  const scheduler::Scheduler& scheduler;
  spec::SpecCache& specs;
  // Where data lies.
  files::Storage storage;
};

// The job that a request asks for, which comes last, after the parts of a
// sweep, comparison or pipeline: its spec resolved, with the model of a
// checkpoint that it names, and the versions of data that its names stand for;
// its body's fingerprint taken. Looks at the disk where it names data. Parts
// have its owner and no request id. INVALID_ARGUMENT with every violation;
// fields are relative to the request, such as "job.spec.training.steps".
absl::StatusOr<std::vector<scheduler::NewJob>> MakeNewJob(
    const NewJobContext& context,
    const ordo::jobs::v1::CreateJobRequest& request,
    const ordo::jobs::v1::Owner& owner);

// The same for a batch, at most kMaxBatch jobs with all parts; fields start
// with "requests[3].". Names and request ids that are there twice are
// violations.
absl::StatusOr<std::vector<scheduler::NewJob>> MakeNewJobs(
    const NewJobContext& context,
    const ordo::jobs::v1::BatchCreateJobsRequest& request,
    const ordo::jobs::v1::Owner& owner);

// What the requests are answered with, of what was created for them: all but
// the parts.
std::vector<ordo::jobs::v1::Job> WithoutParts(
    std::vector<ordo::jobs::v1::Job> jobs);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_NEW_JOBS_H_
