#ifndef ORDO_SERVICES_SPEC_TUNED_BY_H_
#define ORDO_SERVICES_SPEC_TUNED_BY_H_

#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

namespace ordo::services::spec {

inline constexpr int kMaxTrials = 32;
// Of training.learning_rate.
inline constexpr double kMaxLearningRate = 10;

// Appends what is wrong with the tuned_by of a job that trains: its trials, and
// that it needs them.
void CheckTunedBy(const ordo::jobs::v1::JobSpec& spec,
                  std::vector<base::FieldViolation>* violations);

// The same of its paced_by.
void CheckPacedBy(const ordo::jobs::v1::JobSpec& spec,
                  std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_TUNED_BY_H_
