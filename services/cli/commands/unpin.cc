#include "services/cli/commands/checkpoint_change.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::CheckpointsService;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ChangeCheckpoints<checkpoints::v1::UnpinCheckpointRequest>(
      context, arguments,
      {&CheckpointsService::Stub::UnpinCheckpoint, "unpinned"});
}

}  // namespace

Command UnpinCommand() {
  Command command;
  command.name = "unpin";
  command.arguments = "CHECKPOINT...";
  command.summary = "let retention have checkpoints again";
  command.help =
      "What checkpoint.keep of its job has no place for is removed at once, "
      "if\n"
      "nothing else holds it: an alias, or a job that has not ended.";
  command.options = {{"reason", 0, "TEXT", "why, for others to read"}};
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "folders";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
