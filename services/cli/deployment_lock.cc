#include "services/cli/deployment_lock.h"

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

// Another file in its place would be locked by nobody.
absl::Status WriteInPlace(const std::string& path, const std::string& text) {
  base::PosixFilesystem files;
  ORDO_ASSIGN_OR_RETURN(auto file,
                        files.OpenForWrite(path, base::WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(file->Append(text));
  return file->Close();
}

}  // namespace

absl::StatusOr<DeploymentLock> DeploymentLock::Take(const std::string& folder) {
  auto lock = base::FileLock::Take(LockFile(folder));
  if (absl::IsFailedPrecondition(lock.status())) return Taken(folder);
  if (absl::IsUnimplemented(lock.status())) {
    return absl::FailedPreconditionError(
        absl::StrCat(std::string(lock.status().message()),
                     "; name a folder elsewhere with --dir or ORDO_DIR"));
  }
  ORDO_RETURN_IF_ERROR(lock.status());
  // A keeper that was killed has left its name.
  ORDO_RETURN_IF_ERROR(WriteInPlace(LockFile(folder), ""));
  return DeploymentLock(folder, *std::move(lock));
}

absl::Status DeploymentLock::NameKeeper(const base::ProcessId& keeper) const {
  // A reader takes it as whole by the line's end.
  return WriteInPlace(LockFile(folder_),
                      absl::StrCat(keeper.pid, " ", keeper.start_ticks, " ",
                                   keeper.boot_id, "\n"));
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

DeploymentLock::DeploymentLock(std::string folder,
                               std::unique_ptr<base::FileLock> lock)
    : folder_(std::move(folder)), lock_(std::move(lock)) {}

}  // namespace ordo::services::cli
