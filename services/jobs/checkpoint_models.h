#ifndef ORDO_SERVICES_JOBS_CHECKPOINT_MODELS_H_
#define ORDO_SERVICES_JOBS_CHECKPOINT_MODELS_H_

#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/jobs/known_jobs.h"

// What the checkpoints that a spec names say of its model.

namespace ordo::services::jobs {

// Whether FillModel has something to do.
bool NamesAModel(const ordo::jobs::v1::JobSpec& spec);

// For a spec with model.from that is no alias: finds the checkpoint, names it
// in full with its digest, and fills in its model, and its encoding where none
// is given. Of a job that has not ended, and that the spec needs, the model and
// the encoding are filled in and jobs/{job} stays, or the best of it, without a
// digest: the checkpoint is looked up when the job starts. Violations, relative
// to the spec: it is not there, or a field of the model that is given is
// another than the checkpoint's, but for init_std and dropout.
void FillModel(const KnownJobs& known, ordo::jobs::v1::JobSpec* spec,
               std::vector<base::FieldViolation>* violations);

// For a resolved spec. Of kind TRAIN: whether its start_from is of a job that
// leaves checkpoints, with a model of the same sizes. Of kind EVALUATE: whether
// its encoding and evaluations fit the models of its checkpoints, and what is
// worth knowing (Job.notices). Of kind GATE: the same, whether a report that it
// compares with is of its evaluation, whether models that are asked in the
// tokens of their training were trained with other ones, and a notice where a
// checkpoint is compared with itself. What is not there is for the scheduler to
// refuse. Of all: whether the best of a job is of one that evaluates itself.
void CheckModels(const KnownJobs& known, const ordo::jobs::v1::JobSpec& spec,
                 std::vector<std::string>* notices,
                 std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_CHECKPOINT_MODELS_H_
