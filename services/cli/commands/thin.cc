#include "services/cli/commands/checkpoint_change.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::CheckpointsService;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ChangeCheckpoints<checkpoints::v1::ThinCheckpointRequest>(
      context, arguments,
      {&CheckpointsService::Stub::ThinCheckpoint, "thinned"});
}

}  // namespace

Command ThinCommand() {
  Command command;
  command.name = "thin";
  command.arguments = "CHECKPOINT...";
  command.summary = "remove the optimizer state of checkpoints";
  command.help =
      "What is thinned can be evaluated, fetched, and lend its weights to a "
      "new\n"
      "job (model: {from: ...}); no run goes on from it, and nothing brings "
      "the\n"
      "state back. What is pinned, has an alias, or is needed by a job that "
      "has\n"
      "not ended stays whole. checkpoint.keep_optimizer of a job does the same "
      "as\n"
      "it goes.";
  command.options = {{"reason", 0, "TEXT", "why, for others to read"}};
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "folders";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
