#ifndef ORDO_SERVICES_CLI_DEPLOYMENT_LOCK_H_
#define ORDO_SERVICES_CLI_DEPLOYMENT_LOCK_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/file_lock.h"
#include "base/process/process.h"

namespace ordo::services::cli {

// The right to start and end the processes of a deployment: its keeper holds it
// as long as it runs, `ordo down` while it ends what a keeper left. The kernel
// takes it back from a process that dies.
class DeploymentLock {
 public:
  // FAILED_PRECONDITION when somebody holds it, with what to do.
  static absl::StatusOr<DeploymentLock> Take(const std::string& folder);

  const std::string& folder() const { return folder_; }

  // Says who keeps the deployment, so that `ordo down` can ask it to end.
  absl::Status NameKeeper(const base::ProcessId& keeper) const;

  // The keeper, if one runs. Nothing for the moment in which it has the lock
  // and no name there yet, or when `ordo down` has the lock.
  static std::optional<base::ProcessId> Keeper(const std::string& folder);

  // Whether it was ever taken; where it was not, there is no keeper. Take
  // leaves a file behind.
  static bool WasTaken(const std::string& folder);

 private:
  DeploymentLock(std::string folder, std::unique_ptr<base::FileLock> lock);

  std::string folder_;
  std::unique_ptr<base::FileLock> lock_;
};

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_DEPLOYMENT_LOCK_H_
