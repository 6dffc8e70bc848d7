#ifndef ORDO_WORKER_AGENT_LOCK_H_
#define ORDO_WORKER_AGENT_LOCK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/file_lock.h"

namespace ordo::worker::agent {

// Takes <folder>/lock for this process and makes the folder.
// FAILED_PRECONDITION when another worker has it.
absl::StatusOr<std::unique_ptr<base::FileLock>> LockFolder(
    const std::string& folder);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_LOCK_H_
