#ifndef ORDO_WORKER_TRAINER_COMMAND_LINE_H_
#define ORDO_WORKER_TRAINER_COMMAND_LINE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ordo::worker::trainer {

// A command with its arguments.
struct CommandLine {
  // train, evaluate, benchmark, generate, logits, convert, merge, cost, probe,
  // train-tokenizer, help or version.
  std::string command;
  // The specification's file, for train, evaluate, benchmark and cost.
  std::string spec;
  // Values of flags by name, "--out" or "-o"; a flag without a value has
  // "true".
  std::map<std::string, std::string> flags;

  std::string Flag(const std::string& name) const;
};

// Reads the arguments after the program's name; `help` where --help or -h is
// among them, `version` where --version is the first. INVALID_ARGUMENT says
// what is wrong, with the nearest valid name.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments);

// How to call the program.
std::string Usage();

}  // namespace ordo::worker::trainer

#endif  // ORDO_WORKER_TRAINER_COMMAND_LINE_H_
