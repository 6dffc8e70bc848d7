#ifndef ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_
#define ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "services/cli/context.h"
#include "services/cli/deployment_lock.h"

namespace ordo::services::cli {

// How the processes of a deployment end: SIGTERM, and SIGKILL to one that does
// not go in its time. Each function says on `out` what it ends and gives the
// number of processes.

inline constexpr absl::Duration kSchedulerStopTimeout = absl::Seconds(20);

// How long a worker that drains, or a supervisor, may take in this deployment:
// the grace its trainers are configured to have, and some more.
absl::Duration WorkerStopTimeout(base::Filesystem& files,
                                 const std::string& folder);

// How long ending everything in this deployment may take.
absl::Duration DeploymentStopTimeout(base::Filesystem& files,
                                     const std::string& folder);

// Ends processes of one kind, all at once, and waits until they are gone; kills
// them after `timeout`. They may be our children (they are not reaped). `name`
// is for messages.
absl::StatusOr<int> EndProcesses(Context& context, const std::string& name,
                                 const std::vector<base::ProcessId>& ids,
                                 absl::Duration timeout);

// Ends the supervisors of a deployment whose worker is gone, and with them
// their trainers, which write checkpoints. Should the worker's launcher be
// left, ends it without a word.
absl::StatusOr<int> EndSupervisors(Context& context, const std::string& folder);

// Ends what runs in a deployment without a keeper: the worker (its jobs write
// checkpoints and are queued again), supervisors whose worker is gone and then
// the scheduler. Removes endpoints.json.
absl::StatusOr<int> EndLeftovers(Context& context, const DeploymentLock& lock);

// Ends what runs in a folder: the keeper, which ends the others, and then what
// may be left. A keeper that starts after that one is spared, with all that is
// its: FAILED_PRECONDITION then. Waits for another command that is ending the
// deployment; DEADLINE_EXCEEDED when that takes too long.
absl::StatusOr<int> StopDeployment(Context& context, const std::string& folder);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_
