#include "scheduler/policy/table.h"

#include "absl/strings/str_cat.h"
#include "scheduler/policy/fair.h"

namespace ordo::scheduler::policy {

const std::vector<Policy>& Policies() {
  static const auto& policies = *new std::vector<Policy>{
      {"fair", &PlaceFair},
  };
  return policies;
}

absl::StatusOr<Policy> FindPolicy(const std::string& name) {
  std::string names;
  for (const Policy& policy : Policies()) {
    if (policy.name == name) return policy;
    absl::StrAppend(&names, names.empty() ? "" : ", ",
                    std::string(policy.name));
  }
  return absl::NotFoundError(absl::StrCat("there is no placement policy '",
                                          name, "'; there are: ", names));
}

}  // namespace ordo::scheduler::policy
