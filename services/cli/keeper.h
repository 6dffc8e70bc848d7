#ifndef ORDO_SERVICES_CLI_KEEPER_H_
#define ORDO_SERVICES_CLI_KEEPER_H_

#include <string>

#include "absl/status/status.h"
#include "services/cli/context.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {

// Starts the scheduler and the worker of a deployment, writes endpoints.json,
// prints where it answers, restarts whichever dies within a second, and at the
// interrupt of `context` ends both as StopDeployment does. Returns then, or at
// once with what is wrong.
absl::Status KeepDeployment(Context& context, const DeploymentOptions& options);

// The last line that a process wrote, from `offset` of its log on; empty when
// there is none.
std::string LastLogLine(base::Filesystem& files, const std::string& path,
                        uint64_t offset);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_KEEPER_H_
