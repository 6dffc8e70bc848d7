#include "services/cli/commands/checkpoint_change.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::CheckpointsService;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ChangeCheckpoints<checkpoints::v1::PinCheckpointRequest>(
      context, arguments, {&CheckpointsService::Stub::PinCheckpoint, "pinned"});
}

}  // namespace

Command PinCommand() {
  Command command;
  command.name = "pin";
  command.arguments = "CHECKPOINT...";
  command.summary = "keep checkpoints until they are unpinned";
  command.help =
      "A CHECKPOINT is jobs/JOB/checkpoints/ID, JOB for its newest, or\n"
      "aliases/ALIAS. What is pinned is neither removed by retention, nor\n"
      "thinned, nor deleted. `ordo show` says who pinned it, and why:\n"
      "  ordo pin jobs/a/checkpoints/200-1 --reason 'figure 3 of the paper'";
  command.options = {{"reason", 0, "TEXT", "why, for others to read"}};
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "folders";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
