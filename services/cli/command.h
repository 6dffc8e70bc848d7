#ifndef ORDO_SERVICES_CLI_COMMAND_H_
#define ORDO_SERVICES_CLI_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/cli/context.h"
#include "services/cli/exit_code.h"
#include "services/cli/options.h"

namespace ordo::services::cli {

inline constexpr int kAnyNumber = 1 << 20;

// One command of `ordo`. A new one is a file in commands/ and a row of its
// table.
struct Command {
  std::string name;
  // Its arguments as the help shows them, "JOB...".
  std::string arguments;
  // One line.
  std::string summary;
  // What a newcomer must know beyond the options; lines of at most 78 columns.
  std::string help;
  std::vector<Option> options;
  int min_arguments = 0;
  int max_arguments = 0;
  // What the shell completes arguments with: "jobs", "folders" (checkpoints and
  // reports), "files", "commands", or words separated by blanks.
  std::string completes;
  absl::StatusOr<ExitCode> (*run)(Context& context,
                                  const Arguments& arguments) = nullptr;
};

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_COMMAND_H_
