#ifndef ORDO_SERVICES_JOBS_KNOWN_JOBS_H_
#define ORDO_SERVICES_JOBS_KNOWN_JOBS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::jobs {

// What is known of jobs that specs refer to.
struct KnownJobs {
  const scheduler::Scheduler& scheduler;
  // Resolved specs, by id, of jobs that the same call creates; not owned.
  std::map<std::string, const ordo::jobs::v1::JobSpec*> made = {};
};

// The job with this id, also one that is about to be created. NOT_FOUND: there
// is none; else the scheduler's errors.
absl::StatusOr<ordo::jobs::v1::Job> FindJob(const KnownJobs& known,
                                            const std::string& id);

// Whether a spec, resolved or not, names the job among its needs.
bool Needs(const ordo::jobs::v1::JobSpec& spec, const std::string& id);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_KNOWN_JOBS_H_
