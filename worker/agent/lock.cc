#include "worker/agent/lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::worker::agent {

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(
    const std::string& folder) {
  base::PosixFilesystem files;
  ORDO_RETURN_IF_ERROR(files.MakeFolders(folder));
  const std::string path = folder + "/lock";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return base::SystemError(errno, "open " + path);
  auto lock = std::unique_ptr<FolderLock>(new FolderLock(file));
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return base::SystemError(errno, "lock " + path);
    return absl::FailedPreconditionError(
        "state_folder: another worker uses " + folder +
        "; end it or give this one a folder of its own");
  }
  return lock;
}

FolderLock::~FolderLock() { close(file_); }

}  // namespace ordo::worker::agent
