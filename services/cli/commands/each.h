#ifndef ORDO_SERVICES_CLI_COMMANDS_EACH_H_
#define ORDO_SERVICES_CLI_COMMANDS_EACH_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status/status.h"
#include "services/cli/context.h"
#include "services/cli/exit_code.h"

namespace ordo::services::cli {

// Calls `act(context, argument)` for each. One that fails keeps none of the
// others from it: the first error is returned, later ones are printed. But once
// the scheduler is away (UNAVAILABLE), what is left is not tried, and the error
// names it.
template <typename Act>
absl::StatusOr<ExitCode> ForEach(Context& context,
                                 const std::vector<std::string>& arguments,
                                 const Act& act) {
  absl::Status first;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const absl::Status status = act(context, arguments[i]);
    if (status.ok()) continue;
    if (absl::IsUnavailable(status) && i + 1 < arguments.size()) {
      if (!first.ok()) context.err << "ordo: " << first.message() << "\n";
      const auto begin = arguments.begin() + static_cast<ptrdiff_t>(i);
      return absl::UnavailableError(absl::StrCat(
          std::string(status.message()),
          "; not done: ", absl::StrJoin(begin, arguments.end(), " ")));
    }
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
