#ifndef ORDO_SERVICES_SPEC_BUDGET_H_
#define ORDO_SERVICES_SPEC_BUDGET_H_

#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/parts.h"

// What all arms of a comparison end at (Compare.budget).

namespace ordo::services::spec {

// Of a run of an arm and of the baseline by FLOPs, at most so far from each
// other.
inline constexpr double kMaxBudgetError = 0.01;

// Appends what is wrong with compare.budget by itself; with one, arms may
// differ in training.steps.
void ResolveBudget(ordo::jobs::v1::Compare* compare,
                   std::vector<base::FieldViolation>* violations);

// Gives the parts of each arm, resolved and in the order of Expand, the
// training.steps that make its budget the baseline's. Appends a violation for
// each arm that cannot keep it. FLOPs are left alone while the sizes of the
// model are a checkpoint's that has not been looked up.
void FitBudget(const ordo::jobs::v1::Compare& compare, std::vector<Part>* parts,
               std::vector<base::FieldViolation>* violations);

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_BUDGET_H_
