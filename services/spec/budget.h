#ifndef ORDO_SERVICES_SPEC_BUDGET_H_
#define ORDO_SERVICES_SPEC_BUDGET_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

// What all arms of a comparison end at (Compare.budget).

namespace ordo::services::spec {

// Where the parts of a comparison are: what measures the pace of each arm, if
// its budget is one of device_seconds; the trials of each arm, if it is tuned;
// all arms for each seed. Arms are in their order.
struct PartOrder {
  explicit PartOrder(const ordo::jobs::v1::Compare& compare);

  // Place of the first run of an arm, and of its first trial.
  size_t Run(size_t arm) const { return num_paces + num_trials + arm; }
  size_t Trial(size_t arm) const {
    return num_paces + arm * (num_trials / num_arms);
  }
  // The arm of the part at a place.
  size_t ArmOf(size_t place) const;

  size_t num_arms;
  // Of all arms together.
  size_t num_paces;
  size_t num_trials;
  // Place of the baseline in the arms.
  size_t baseline = 0;
};

// Makes of a part of an arm, not resolved, what measures how long its steps
// take. `parent` is named.
void MakePace(const ordo::jobs::v1::JobSpec& parent, Part* part);

// Has a trial or run of an arm, which is not the baseline, need what measures
// its pace and the baseline's, and take its steps by that; `arm` is its name.
void FollowPaces(const ordo::jobs::v1::JobSpec& parent, const std::string& arm,
                 Part* part);

// Of a run of an arm and of the baseline by FLOPs, at most so far from each
// other.
inline constexpr double kMaxBudgetError = 0.01;

// Appends what is wrong with compare.budget by itself; with one, arms may
// differ in training.steps.
void ResolveBudget(ordo::jobs::v1::Compare* compare,
                   std::vector<base::FieldViolation>* violations);

// Gives the parts of each arm, resolved and in their order, the training.steps
// that make its budget the baseline's; with device_seconds they are not known
// yet. Appends a violation for each arm that cannot keep it. FLOPs are left
// alone while the sizes of the model are a checkpoint's that has not been
// looked up.
void FitBudget(const ordo::jobs::v1::Compare& compare, std::vector<Part>* parts,
               std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_BUDGET_H_
