#ifndef ORDO_BASE_FLAGS_FLAGS_H_
#define ORDO_BASE_FLAGS_FLAGS_H_

#include <string>

namespace ordo::base {

// What --help of a program with Abseil flags prints: `usage`, then the flags
// that the program's own main.cc defines, none of its libraries'. Call it
// before absl::ParseCommandLine.
void SetHelp(const std::string& usage);

}  // namespace ordo::base

#endif  // ORDO_BASE_FLAGS_FLAGS_H_
