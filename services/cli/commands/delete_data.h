#ifndef ORDO_SERVICES_CLI_COMMANDS_DELETE_DATA_H_
#define ORDO_SERVICES_CLI_COMMANDS_DELETE_DATA_H_

#include <string>

#include "absl/status/status.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// Whether `ordo delete` means data by this argument: "data/books",
// "data/books@0123456789abcdef".
bool NamesData(const std::string& argument);

// Deletes what such an argument names, and says so.
absl::Status DeleteData(Context& context, const std::string& name);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_DELETE_DATA_H_
