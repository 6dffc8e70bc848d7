#include "services/cli/doctor/finding.h"

#include <algorithm>
#include <iterator>

namespace ordo::services::cli::doctor {

const char* HealthName(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarn:
      return "warn";
    case Health::kFail:
      return "fail";
  }
  return "fail";
}

void Append(Findings more, Findings* findings) {
  std::move(more.begin(), more.end(), std::back_inserter(*findings));
}

int Count(const Findings& findings, Health health) {
  return static_cast<int>(std::count_if(
      findings.begin(), findings.end(),
      [health](const Finding& each) { return each.health == health; }));
}

}  // namespace ordo::services::cli::doctor
