#ifndef ORDO_SERVICES_CLI_HELP_H_
#define ORDO_SERVICES_CLI_HELP_H_

#include <string>
#include <vector>

#include "services/cli/command.h"

namespace ordo::services::cli {

// Options that every command takes.
const std::vector<Option>& CommonOptions();

// A command's own options and the common ones.
std::vector<Option> AllOptions(const Command& command);

// What `ordo help` prints.
std::string Overview(const std::vector<Command>& commands);

// What `ordo help COMMAND` prints.
std::string HelpText(const Command& command);

// Prints such a text: as it is, or as {"help": TEXT} for -o json and yaml.
void PrintHelp(Context& context, const std::string& text);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_HELP_H_
