#ifndef ORDO_SERVICES_CLI_COMMANDS_ADMIN_TOKEN_H_
#define ORDO_SERVICES_CLI_COMMANDS_ADMIN_TOKEN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/ordo/access/v1/access.pb.h"
#include "services/cli/context.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// `ordo admin token create|list|revoke [NAME]`: `words` begin with the verb.
absl::Status RunAdminToken(Context& context, const Arguments& arguments,
                           const std::vector<std::string>& words);

// The options that it takes beside those of `ordo admin certs`, of which it
// shares --user and --worker.
std::vector<Option> AdminTokenOptions();

// "viewer" of a role.
std::string RoleText(ordo::access::v1::Role role);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_ADMIN_TOKEN_H_
