#ifndef ORDO_WORKER_AGENT_LOCK_H_
#define ORDO_WORKER_AGENT_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace ordo::worker::agent {

// Holds <folder>/lock for one process (flock(2)); the kernel gives it back when
// the process ends, however it ends.
class FolderLock {
 public:
  // Makes the folder. FAILED_PRECONDITION when another process holds it.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(
      const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int file) : file_(file) {}

  const int file_;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_LOCK_H_
