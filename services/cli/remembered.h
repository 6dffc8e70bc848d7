#ifndef ORDO_SERVICES_CLI_REMEMBERED_H_
#define ORDO_SERVICES_CLI_REMEMBERED_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {

// What a deployment was told once stays so until it is told otherwise: the
// settings, the data roots, the trainer and its environment of
// DeploymentOptions, in config/settings.yaml of its folder. Where it listens is
// in its configuration (ConfiguredListen).

std::string SettingsFile(const std::string& folder);

// What Remember wrote, other fields as by default; nothing where it never did.
// INVALID_ARGUMENT, naming the file and the fix, when it cannot be read.
absl::StatusOr<DeploymentOptions> ReadRemembered(base::Filesystem& files,
                                                 const std::string& folder);

// Replaces what is remembered of options.folder.
absl::Status Remember(base::Filesystem& files,
                      const DeploymentOptions& options);

// `given`, and what is remembered besides: a given setting replaces that of its
// path and of all below it, a given variable the one of its name; given data
// roots are added.
DeploymentOptions WithRemembered(const DeploymentOptions& remembered,
                                 const DeploymentOptions& given);

// The options, as one writes them, that `all` has and `given` has not; of
// variables only the names, since a value may be a secret. Empty: none.
std::string AsBefore(const DeploymentOptions& given,
                     const DeploymentOptions& all);

// For each remembered data root that cannot be read now, a sentence that says
// why and how to forget it.
std::vector<std::string> LostDataRoots(const DeploymentOptions& all);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_REMEMBERED_H_
