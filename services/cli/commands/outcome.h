#ifndef ORDO_SERVICES_CLI_COMMANDS_OUTCOME_H_
#define ORDO_SERVICES_CLI_COMMANDS_OUTCOME_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/cli/context.h"
#include "services/cli/exit_code.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

// What submit, rerun, continue, evaluate, gate, wait and watch share: staying
// until jobs have ended.
struct StayOptions {
  // Show how they go.
  bool live = false;
  // Cancel them on an interrupt, rather than leave them to run.
  bool cancel_on_interrupt = false;
  absl::Duration timeout = absl::InfiniteDuration();
  // The names have been printed already.
  bool names_are_out = false;
  // Print those that SUCCEEDED; otherwise the caller says what came of them.
  bool tells_success = true;
  // The command that stays with what is left, and ends with the same codes.
  const char* back = "watch";
};

// Options of commands that create jobs: --wait, --watch,
// --cancel-on-interrupt.
std::vector<Option> StayOptionTable();

// Stays until the jobs (names as on the command line) have ended, and prints
// how they did. kOk, kJobFailed or kCancelled; kTimedOut when the time is up
// or an interrupt came first: the jobs then go on, and their names are
// printed.
absl::StatusOr<ExitCode> StayUntilEnded(Context& context,
                                        const std::vector<std::string>& names,
                                        const StayOptions& options);

// Checks those options and, when they ask to stay, catches signals from here
// on. Call before the first RPC and before anything is created.
absl::Status PrepareToStay(Context& context, const Arguments& arguments);

// After jobs were created: stays if the options of StayOptionTable ask for it.
absl::StatusOr<ExitCode> StayIfAsked(Context& context,
                                     const Arguments& arguments,
                                     const std::vector<std::string>& names);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_OUTCOME_H_
