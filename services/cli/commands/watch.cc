#include "services/cli/commands/commands.h"
#include "services/cli/commands/outcome.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  StayOptions options;
  options.live = true;
  return StayUntilEnded(context, arguments.positional(), options);
}

}  // namespace

Command WatchCommand() {
  Command command;
  command.name = "watch";
  command.arguments = "JOB...";
  command.summary = "show how jobs go until they have ended";
  command.help =
      "On a terminal: a line for each job, redrawn in place, with its "
      "progress,\n"
      "step, loss, tokens per second and time left. Elsewhere: a line at each\n"
      "change. Exit codes as those of `ordo wait`. Ctrl-C leaves the jobs "
      "alone.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
