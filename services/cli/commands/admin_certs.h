#ifndef ORDO_SERVICES_CLI_COMMANDS_ADMIN_CERTS_H_
#define ORDO_SERVICES_CLI_COMMANDS_ADMIN_CERTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/cli/context.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// `ordo admin certs VERB DIR [FILE...]`: `words` begin with the verb. Needs no
// server.
absl::Status RunAdminCerts(Context& context, const Arguments& arguments,
                           const std::vector<std::string>& words);

// The options that it takes.
std::vector<Option> AdminCertsOptions();

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_ADMIN_CERTS_H_
