#include <string>

#include "absl/strings/str_cat.h"
#include "services/cli/commands/commands.h"
#include "services/cli/commands/delete_data.h"
#include "services/cli/commands/each.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  return ForEach(context, arguments.positional(),
                 [](Context& each, const std::string& name) -> absl::Status {
                   if (NamesData(name)) return DeleteData(each, name);
                   return absl::InvalidArgumentError(absl::StrCat(
                       "'", name,
                       "' cannot be deleted; name data as data/NAME or "
                       "data/NAME@VERSION, see 'ordo list data'"));
                 });
}

}  // namespace

Command DeleteCommand() {
  Command command;
  command.name = "delete";
  command.arguments = "data/NAME...";
  command.summary = "remove data that was pushed";
  command.help =
      "  ordo delete data/books@0123456789abcdef\n"
      "NAME@VERSION is that version, NAME all of its versions; see: ordo list "
      "data.\n"
      "What a job that has not ended names stays. Jobs that begin later and "
      "take it\n"
      "from a checkpoint's training end with DATA_MISSING.";
  command.min_arguments = 1;
  command.max_arguments = kAnyNumber;
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
