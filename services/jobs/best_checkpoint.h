#ifndef ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_
#define ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_

#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/scheduler.h"

// jobs/{job}/checkpoints/best: the checkpoint of a job that did best in the
// first of its own evaluations which has results, by that one's headline metric
// (model/catalog/headline.h); of equals the newest.

namespace ordo::services::jobs {

// Whether `checkpoints` of a spec of kind EVALUATE names such a one.
bool NamesBest(const ordo::jobs::v1::JobSpec& spec);

// Puts the checkpoint that it is now in the place of each. Where better ones
// were removed, that is a notice. Violations: there is no such job, or nothing
// of it has been evaluated and is there.
void FillBest(const scheduler::Scheduler& scheduler,
              ordo::jobs::v1::JobSpec* spec, std::vector<std::string>* notices,
              std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_
