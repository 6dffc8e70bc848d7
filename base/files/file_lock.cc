#include "base/files/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::base {

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::Take(
    const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return SystemError(errno, absl::StrCat("open ", path));
  std::unique_ptr<FileLock> lock(new FileLock(fd));
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is locked by another process"));
  }
  return SystemError(errno, absl::StrCat("lock ", path));
}

FileLock::~FileLock() { close(fd_); }

}  // namespace ordo::base
