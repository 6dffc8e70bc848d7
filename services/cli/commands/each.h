#ifndef ORDO_SERVICES_CLI_COMMANDS_EACH_H_
#define ORDO_SERVICES_CLI_COMMANDS_EACH_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status/status.h"
#include "services/cli/context.h"
#include "services/cli/exit_code.h"

namespace ordo::services::cli {

// Calls `act(context, argument)` for each. One that fails keeps none of the
// others from it: the first error is returned, later ones are printed.
template <typename Act>
absl::StatusOr<ExitCode> ForEach(Context& context,
                                 const std::vector<std::string>& arguments,
                                 const Act& act) {
  absl::Status first;
  for (const std::string& argument : arguments) {
    const absl::Status status = act(context, argument);
    if (status.ok()) continue;
    if (first.ok()) {
      first = status;
    } else {
      context.err << "ordo: " << status.message() << "\n";
    }
  }
  ORDO_RETURN_IF_ERROR(first);
  return ExitCode::kOk;
}

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_EACH_H_
