#include "services/cli/doctor/finding.h"

#include <algorithm>
#include <utility>

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
  for (Finding& finding : more) {
    const bool known = std::any_of(
        findings->begin(), findings->end(), [&](const Finding& each) {
          return each.check == finding.check && each.seen == finding.seen;
        });
    if (!known) findings->push_back(std::move(finding));
  }
}

int Count(const Findings& findings, Health health) {
  return static_cast<int>(std::count_if(
      findings.begin(), findings.end(),
      [health](const Finding& each) { return each.health == health; }));
}

}  // namespace ordo::services::cli::doctor
