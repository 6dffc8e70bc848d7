#ifndef ORDO_SERVICES_CLI_COMMANDS_COMMANDS_H_
#define ORDO_SERVICES_CLI_COMMANDS_COMMANDS_H_

#include <string>
#include <vector>

#include "services/cli/command.h"

namespace ordo::services::cli {

// Everything that `ordo` can do, in the order of its help.
const std::vector<Command>& Commands();

// The command, or nullptr.
const Command* FindCommand(const std::string& name);

// Each in the file of its name.
Command AdminCommand();
Command AliasCommand();
Command CancelCommand();
Command CompletionCommand();
Command ContinueCommand();
Command DeleteCommand();
Command DoctorCommand();
Command DownCommand();
Command EvaluateCommand();
Command ExplainCommand();
Command GateCommand();
Command GetCommand();
Command HealthCommand();
Command HelpCommand();
Command HoldCommand();
Command ListCommand();
Command LogsCommand();
Command PinCommand();
Command PriorityCommand();
Command PushCommand();
Command QueuesCommand();
Command ReleaseCommand();
Command ReportCommand();
Command RerunCommand();
Command ShowCommand();
Command SubmitCommand();
Command ThinCommand();
Command UnpinCommand();
Command UpCommand();
Command UsageCommand();
Command VersionCommand();
Command WaitCommand();
Command WatchCommand();
Command WhoamiCommand();
Command WorkersCommand();

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMANDS_COMMANDS_H_
