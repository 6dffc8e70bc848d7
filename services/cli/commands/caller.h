#ifndef ORDO_SERVICES_CLI_COMMANDS_CALLER_H_
#define ORDO_SERVICES_CLI_COMMANDS_CALLER_H_

#include <string>

#include "absl/status/statusor.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// The name that the scheduler knows the caller by, as owner of what they
// submit: that of a token or a certificate, which it is asked for; without
// either the one that is claimed.
absl::StatusOr<std::string> CallerName(Context& context);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_CALLER_H_
