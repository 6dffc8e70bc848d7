#include "services/cli/commands/commands.h"

namespace ordo::services::cli {

const std::vector<Command>& Commands() {
  static const auto& commands = *new std::vector<Command>{
      UpCommand(),     DownCommand(),    SubmitCommand(),     ListCommand(),
      ShowCommand(),   WatchCommand(),   LogsCommand(),       ExplainCommand(),
      CancelCommand(), HoldCommand(),    ReleaseCommand(),    PriorityCommand(),
      WaitCommand(),   RerunCommand(),   ContinueCommand(),   EvaluateCommand(),
      GateCommand(),   ReportCommand(),  GetCommand(),        PushCommand(),
      AliasCommand(),  PinCommand(),     UnpinCommand(),      ThinCommand(),
      DeleteCommand(), QueuesCommand(),  WorkersCommand(),    UsageCommand(),
      AdminCommand(),  WhoamiCommand(),  HealthCommand(),     DoctorCommand(),
      HelpCommand(),   VersionCommand(), CompletionCommand(),
  };
  return commands;
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace ordo::services::cli
