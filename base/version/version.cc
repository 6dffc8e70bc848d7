#include "base/version/version.h"

#include "base/digest/digest.h"
#include "base/files/files.h"

namespace ordo::base {

absl::StatusOr<std::string> BuildId() {
  // The link leads to the running file even when its path holds another by now.
  static const auto* const id =
      new absl::StatusOr<std::string>(BuildIdOf("/proc/self/exe"));
  return *id;
}

absl::StatusOr<std::string> BuildIdOf(const std::string& path) {
  PosixFilesystem files;
  return Sha256HexOfFile(files, path);
}

}  // namespace ordo::base
