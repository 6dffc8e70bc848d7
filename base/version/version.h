#ifndef ORDO_BASE_VERSION_VERSION_H_
#define ORDO_BASE_VERSION_VERSION_H_

#include <string>

#include "absl/status/statusor.h"

namespace ordo::base {

// The build id of this process's program: the SHA-256 of its file, 64
// hexadecimal digits. Read once, at the first call (a large program takes a
// moment), and kept. Thread-safe.
absl::StatusOr<std::string> BuildId();

// The build id of another program's file.
absl::StatusOr<std::string> BuildIdOf(const std::string& path);

}  // namespace ordo::base

#endif  // ORDO_BASE_VERSION_VERSION_H_
