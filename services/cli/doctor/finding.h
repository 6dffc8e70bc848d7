#ifndef ORDO_SERVICES_CLI_DOCTOR_FINDING_H_
#define ORDO_SERVICES_CLI_DOCTOR_FINDING_H_

#include <string>
#include <vector>

namespace ordo::services::cli::doctor {

// kWarn: Ordo works, but not as well or as safely as it could.
enum class Health { kOk, kWarn, kFail };

// "ok", "warn", "fail".
const char* HealthName(Health health);

// What one check says.
struct Finding {
  // "storage/rename".
  std::string check;
  Health health = Health::kOk;
  // What was seen.
  std::string seen;
  // What to do; empty where all is well.
  std::string advice = {};
};
using Findings = std::vector<Finding>;

// Adds those of `more` that are not there yet: a folder may be named twice.
void Append(Findings more, Findings* findings);

// How many are of this health.
int Count(const Findings& findings, Health health);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_FINDING_H_
