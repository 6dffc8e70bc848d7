#include "services/cli/deployment_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::services::cli {
namespace {

constexpr size_t kMaxLockBytes = 100;

std::string LockFile(const std::string& folder) {
  return base::JoinPath(folder, "keeper.lock");
}

absl::Status Taken(const std::string& folder) {
  if (!DeploymentLock::Keeper(folder).has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("another command is starting or ending the deployment in ",
                     folder, "; try again when it is done"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("a deployment runs in ", folder,
                   " already; use it, end it with 'ordo down --dir ", folder,
                   "', or name another folder with --dir"));
}

}  // namespace

absl::StatusOr<DeploymentLock> DeploymentLock::Take(const std::string& folder) {
  const std::string path = LockFile(folder);
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return base::SystemError(errno, "open " + path);
  DeploymentLock lock(folder, fd);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK) return base::SystemError(error, "lock " + path);
    return Taken(folder);
  }
  // A keeper that was killed has left its name.
  if (ftruncate(fd, 0) != 0) return base::SystemError(errno, "empty " + path);
  return lock;
}

absl::Status DeploymentLock::NameKeeper(const base::ProcessId& keeper) const {
  // A reader takes it as whole by the line's end.
  const std::string text = absl::StrCat(keeper.pid, " ", keeper.start_ticks,
                                        " ", keeper.boot_id, "\n");
  if (ftruncate(fd_, 0) != 0 || pwrite(fd_, text.data(), text.size(), 0) !=
                                    static_cast<ssize_t>(text.size())) {
    return base::SystemError(errno, "write " + LockFile(folder_));
  }
  return absl::OkStatus();
}

std::optional<base::ProcessId> DeploymentLock::Keeper(
    const std::string& folder) {
  base::PosixFilesystem files;
  const auto text = base::ReadFile(files, LockFile(folder), kMaxLockBytes);
  if (!text.ok() || text->empty() || text->back() != '\n') return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(text->substr(0, text->size() - 1), ' ');
  base::ProcessId keeper;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &keeper.pid) ||
      !absl::SimpleAtoi(parts[1], &keeper.start_ticks)) {
    return std::nullopt;
  }
  keeper.boot_id = parts[2];
  if (!base::IsRunning(keeper)) return std::nullopt;
  return keeper;
}

bool DeploymentLock::WasTaken(const std::string& folder) {
  base::PosixFilesystem files;
  return base::Exists(files, LockFile(folder));
}

DeploymentLock::DeploymentLock(std::string folder, int fd)
    : folder_(std::move(folder)), fd_(fd) {}

DeploymentLock::DeploymentLock(DeploymentLock&& other) noexcept
    : folder_(std::move(other.folder_)), fd_(std::exchange(other.fd_, -1)) {}

DeploymentLock::~DeploymentLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace ordo::services::cli
