#include "base/files/file_lock.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

// Who gives a lock back tells nobody.
constexpr int kLookIntervalMs = 50;

}  // namespace

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
  // What mounts without locks say, NFS without its lock service among them.
  if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) {
    return absl::UnimplementedError(absl::StrCat("lock ", path,
                                                 ": the storage has no locks (",
                                                 std::strerror(errno), ")"));
  }
  return SystemError(errno, absl::StrCat("lock ", path));
}

absl::StatusOr<std::unique_ptr<FileLock>> FileLock::WaitFor(
    const std::string& path,
    const std::function<absl::Status()>& keep_waiting) {
  while (true) {
    auto lock = Take(path);
    if (!absl::IsFailedPrecondition(lock.status())) return lock;
    ORDO_RETURN_IF_ERROR(keep_waiting());
    ::poll(nullptr, 0, kLookIntervalMs);
  }
}

FileLock::~FileLock() { close(fd_); }

}  // namespace ordo::base
