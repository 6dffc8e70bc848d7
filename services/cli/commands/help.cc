#include "services/cli/help.h"

#include "absl/strings/str_cat.h"
#include "base/text/nearest.h"
#include "services/cli/commands/commands.h"

namespace ordo::services::cli {
namespace {

absl::StatusOr<ExitCode> Run(Context& context, const Arguments& arguments) {
  if (arguments.positional().empty()) {
    PrintHelp(context, Overview(Commands()));
    return ExitCode::kOk;
  }
  const std::string& name = arguments.positional()[0];
  const Command* command = FindCommand(name);
  if (command == nullptr) {
    std::vector<std::string> names;
    for (const Command& known : Commands()) names.push_back(known.name);
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown command '", name, "'", base::SuggestName(name, names)));
  }
  PrintHelp(context, HelpText(*command));
  return ExitCode::kOk;
}

}  // namespace

Command HelpCommand() {
  Command command;
  command.name = "help";
  command.arguments = "[COMMAND]";
  command.summary = "say what Ordo or a command does";
  command.max_arguments = 1;
  command.completes = "commands";
  command.run = Run;
  return command;
}

}  // namespace ordo::services::cli
