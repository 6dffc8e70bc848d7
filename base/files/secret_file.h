#ifndef ORDO_BASE_FILES_SECRET_FILE_H_
#define ORDO_BASE_FILES_SECRET_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace ordo::base {

// As AtomicWrite, but for what only the owner of the file may read, at every
// moment: its mode is 0600.
absl::Status WriteSecretFile(const std::string& path,
                             std::string_view contents);

}  // namespace ordo::base

#endif  // ORDO_BASE_FILES_SECRET_FILE_H_
