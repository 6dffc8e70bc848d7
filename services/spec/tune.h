#ifndef ORDO_SERVICES_SPEC_TUNE_H_
#define ORDO_SERVICES_SPEC_TUNE_H_

#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

// How comparisons tune their arms (Compare.tune).

namespace ordo::services::spec {

// Appends what is wrong with compare.tune by itself, and fills in its defaults.
// The seeds of the comparison are filled in.
void ResolveTune(ordo::jobs::v1::Compare* compare,
                 std::vector<base::FieldViolation>* violations);

// Makes of a part of an arm, not resolved and without seeds, its trial of this
// number. `parent` is named.
void MakeTrial(const ordo::jobs::v1::JobSpec& parent, int number, Part* part,
               PartViolations* violations);

// Has a run of an arm need that arm's trials, and take what they show.
void FollowTrials(const ordo::jobs::v1::JobSpec& parent, Part* part);

// Of a trial and a run of one arm, both resolved: whether the trial has the
// score that it is chosen by, and whether what it is asked is held out, from
// the run's evaluations and from training.
void CheckTuning(const Part& trial, const Part& run,
                 std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_TUNE_H_
