#include <string>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "services/cli/commands/checkpoint_change.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/delete_data.h"
#include "services/cli/commands/each.h"
#include "services/cli/names.h"

namespace ordo::services::cli {
namespace {

using checkpoints::v1::CheckpointsService;

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  const CheckpointChange<checkpoints::v1::DeleteCheckpointRequest> change = {
      &CheckpointsService::Stub::DeleteCheckpoint, "deleted"};
  return ForEach(
      context, arguments.positional(),
      [&](Context& each, const std::string& text) -> absl::Status {
        if (NamesData(text)) return DeleteData(each, text);
        ORDO_ASSIGN_OR_RETURN(const ResourceName name, ParseResourceName(text));
        if (name.kind != ResourceName::Kind::kCheckpoint) {
          return absl::InvalidArgumentError(
              absl::StrCat("'", text,
                           "' cannot be deleted; name a checkpoint as "
                           "jobs/JOB/checkpoints/ID (ordo list checkpoints), "
                           "data as data/NAME or data/NAME@VERSION (ordo list "
                           "data)"));
        }
        return ChangeCheckpoint(each, arguments, change, name.ToString());
      });
}

}  // namespace

Command DeleteCommand() {
  Command command;
  command.name = "delete";
  command.arguments = "NAME...";
  command.summary = "remove checkpoints, or data that was pushed";
  command.help =
      "  ordo delete jobs/a/checkpoints/200-1\n"
      "Files of a checkpoint are removed; what is known of it stays. One that "
      "is\n"
      "pinned, has an alias, or is needed by a job that has not ended is not "
      "deleted,\n"
      "and the answer says by what. Nothing brings it back.\n"
      "  ordo delete data/books@0123456789abcdef\n"
      "data/NAME@VERSION is that version, data/NAME all of its versions; see: "
      "ordo list\n"
      "data. What a job that has not ended names stays. Jobs that begin later "
      "and take\n"
      "it from a checkpoint's training end with DATA_MISSING.";
  command.options = {
      {"reason", 0, "TEXT", "why, for others to read; of checkpoints"}};
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.completes = "folders";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
