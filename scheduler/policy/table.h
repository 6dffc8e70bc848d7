#ifndef ORDO_SCHEDULER_POLICY_TABLE_H_
#define ORDO_SCHEDULER_POLICY_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/policy/policy.h"

namespace ordo::scheduler::policy {

// The policy that runs when none is named.
inline constexpr char kDefaultPolicy[] = "fair";

// All policies.
const std::vector<Policy>& Policies();

// NOT_FOUND, naming those there are.
absl::StatusOr<Policy> FindPolicy(const std::string& name);

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_TABLE_H_
