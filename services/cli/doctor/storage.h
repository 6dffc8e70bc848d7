#ifndef ORDO_SERVICES_CLI_DOCTOR_STORAGE_H_
#define ORDO_SERVICES_CLI_DOCTOR_STORAGE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock/clock.h"
#include "base/files/file_lock.h"
#include "base/files/files.h"
#include "services/cli/doctor/finding.h"

namespace ordo::services::cli::doctor {

// What a folder is for, which decides what it must be able to do.
enum class FolderUse {
  // Shared by all machines: jobs, checkpoints, results.
  kStorage,
  // The scheduler's database.
  kStore,
  // A worker's journals.
  kWorkerState,
};

// The calls that checks of a folder make; those of this machine, but in tests.
struct FolderCalls {
  // `files` and `clock` outlive the calls.
  FolderCalls(base::Filesystem& files, const base::Clock& clock);

  base::Filesystem& files;
  const base::Clock& clock;
  std::function<absl::StatusOr<std::unique_ptr<base::FileLock>>(
      const std::string& path)>
      lock;
  std::function<absl::Status(const std::string& from, const std::string& to)>
      hard_link;
  // Files that can still be made; nothing is known of some storage: -1.
  std::function<absl::StatusOr<int64_t>(const std::string& path)> free_files;
  // Whether another machine has the disk (NFS, Lustre, Ceph and the like).
  std::function<bool(const std::string& path)> is_remote;
};

// Whether a folder keeps what Ordo relies on, tried in a folder of its own
// below it, which is gone afterwards. The checks' names begin with "storage/",
// "store/" or "state/".
Findings CheckFolder(const FolderCalls& calls, const std::string& folder,
                     FolderUse use);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_STORAGE_H_
