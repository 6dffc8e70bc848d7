#ifndef ORDO_SERVICES_CLI_COMMANDS_CATALOGUE_H_
#define ORDO_SERVICES_CLI_COMMANDS_CATALOGUE_H_

#include <string>

#include "absl/status/status.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// Print what model/catalog holds, as context.output asks: all, or with a name
// what is called so, of tasks that of training and that of evaluation.
// NOT_FOUND names the nearest.
absl::Status ListEncodings(Context& context, const std::string& name);
absl::Status ListTasks(Context& context, const std::string& name);

// "train", "evaluate", "benchmark" and so on, as in a file.
std::string JobSpecKind(jobs::v1::JobSpec::Kind kind);

// "ONLINE", "ONLINE,CORDONED", "ONLINE,DRAIN"; with ",QUARANTINE" when one of
// its devices is.
std::string WorkerStateText(const workers::v1::Worker& worker);

// "grid_mean=0.53 trained_mean=0.98", by name.
std::string ScoresText(const reports::v1::Report& report);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_CATALOGUE_H_
