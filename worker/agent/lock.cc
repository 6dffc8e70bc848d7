#include "worker/agent/lock.h"

#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::worker::agent {

absl::StatusOr<std::unique_ptr<base::FileLock>> LockFolder(
    const std::string& folder) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  auto lock = base::FileLock::Take(folder + "/lock");
  if (absl::IsFailedPrecondition(lock.status())) {
    return absl::FailedPreconditionError(
        "state_folder: another worker uses " + folder +
        "; end it or give this one a folder of its own");
  }
  return lock;
}

}  // namespace ordo::worker::agent
