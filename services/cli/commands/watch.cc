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
      "step, loss, tokens per second and time left; of a sweep, comparison or\n"
      "pipeline how many of its parts are in which state, and a line for each "
      "part\n"
      "that runs; of a single job also a sparkline of the losses since the "
      "watch\n"
      "began. Elsewhere: a line at each change. Exit codes as those of `ordo "
      "wait`.\n"
      "Ctrl-C leaves the jobs alone.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "jobs";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
