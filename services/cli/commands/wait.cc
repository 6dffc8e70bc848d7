#include "base/status/status.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  StayOptions options;
  options.cancel_on_interrupt = arguments.Has("cancel-on-interrupt");
  ORDO_ASSIGN_OR_RETURN(
      options.timeout,
      arguments.GetDuration("timeout", absl::InfiniteDuration()));
  return StayUntilEnded(context, arguments.positional(), options);
}

}  // namespace

Command WaitCommand() {
  Command command;
  command.name = "wait";
  command.arguments = "JOB...";
  command.summary = "stay until jobs have ended";
  command.help =
      "Rides out an absence of the scheduler of up to a minute. Exit code 0 "
      "when\n"
      "all succeeded, 1 when one failed, 3 when one was cancelled, 5 when the "
      "time\n"
      "was up or Ctrl-C came first (the jobs go on).";
  command.options = {
      {"timeout", 0, "DURATION",
       "stay at most this long, such as 90s; 0: look once"},
      {"cancel-on-interrupt", 0, "", "Ctrl-C cancels the jobs"},
  };
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
