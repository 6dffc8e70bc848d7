#ifndef ORDO_SERVICES_CLI_COMMANDS_UP_OPTIONS_H_
#define ORDO_SERVICES_CLI_COMMANDS_UP_OPTIONS_H_

#include "absl/status/statusor.h"
#include "services/cli/context.h"
#include "services/cli/deployment.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// What `ordo up` was given, and what holds: with what a deployment remembers.
struct UpOptions {
  DeploymentOptions given;
  DeploymentOptions all;
  // Nothing is remembered, where it listens neither.
  bool fresh = false;
};

// Checks all of it, and makes the folder. Errors say what to do.
absl::StatusOr<UpOptions> ReadUpOptions(Context& context,
                                        const Arguments& arguments);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_UP_OPTIONS_H_
