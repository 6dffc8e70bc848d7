#ifndef ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_
#define ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/scheduler.h"
#include "services/jobs/known_jobs.h"

// jobs/{job}/checkpoints/best: the checkpoint of a job that did best in the
// first of its own evaluations which has results, by that one's headline metric
// (model/catalog/headline.h); of equals the newest.

namespace ordo::services::jobs {

// The resource name of that checkpoint of a job as it is now, of those that are
// AVAILABLE. NOT_FOUND: there is no such job, or nothing of it has been
// evaluated and is there; else the scheduler's errors.
absl::StatusOr<std::string> BestCheckpoint(
    const scheduler::Scheduler& scheduler, const std::string& job);

// Whether a field of a spec that names a checkpoint names such a one.
bool NamesBest(const ordo::jobs::v1::JobSpec& spec);

// Puts the checkpoint that it is now in the place of each, in the fields of a
// spec that name a checkpoint, not in those of what it is a template of. Where
// better ones were removed, that is a notice. That of a job which the spec
// needs and which has not ended stays: it is looked up when the spec's job
// starts. Violations, relative to the spec: there is no such job, or nothing of
// it has been evaluated and is there.
void FillBest(const KnownJobs& known, ordo::jobs::v1::JobSpec* spec,
              std::vector<std::string>* notices,
              std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_BEST_CHECKPOINT_H_
