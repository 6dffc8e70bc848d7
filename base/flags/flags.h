#ifndef ORDO_BASE_FLAGS_FLAGS_H_
#define ORDO_BASE_FLAGS_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ordo::base {

// The command line of a program with Abseil flags.
struct CommandLine {
  // What stands beside the flags.
  std::vector<std::string> words;
  // Not empty behind --help and --version: to be printed, and nothing else to
  // be done.
  std::string answer;
};

// Sets the flags that the program's own main.cc defines; none of its libraries'
// can be set. --help is answered with `usage`, which says what the program does
// and begins in lower case, and these flags; --version with the program's build
// id (base/version). INVALID_ARGUMENT names what is not understood.
absl::StatusOr<CommandLine> ParseFlags(
    const std::vector<std::string>& command_line, const std::string& usage);

}  // namespace ordo::base

#endif  // ORDO_BASE_FLAGS_FLAGS_H_
