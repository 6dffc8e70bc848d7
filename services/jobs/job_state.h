#ifndef ORDO_SERVICES_JOBS_JOB_STATE_H_
#define ORDO_SERVICES_JOBS_JOB_STATE_H_

#include "proto/ordo/jobs/v1/jobs.pb.h"

namespace ordo::services::jobs {

// Whether the job is in a state that nothing leaves.
inline bool HasEnded(const ordo::jobs::v1::Job& job) {
  return job.state() == ordo::jobs::v1::Job::SUCCEEDED ||
         job.state() == ordo::jobs::v1::Job::FAILED ||
         job.state() == ordo::jobs::v1::Job::CANCELLED;
}

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_JOB_STATE_H_
