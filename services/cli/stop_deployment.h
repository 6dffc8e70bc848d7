#ifndef ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_
#define ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/files/files.h"
#include "base/process/process.h"
#include "services/cli/context.h"

namespace ordo::services::cli {

// How the processes of a deployment end: SIGTERM, and SIGKILL to one that does
// not go in its time.

inline constexpr absl::Duration kSchedulerStopTimeout = absl::Seconds(20);

// How long a worker that drains, or a supervisor, may take in this deployment:
// the grace its trainers are configured to have, and some more.
absl::Duration WorkerStopTimeout(base::Filesystem& files,
                                 const std::string& folder);

// Ends a process, which may be our child (it is not reaped), and waits until it
// is gone; kills it after `timeout`. `name` is for messages.
absl::Status EndProcess(const std::string& name, const base::ProcessId& id,
                        absl::Duration timeout);

// Ends the supervisors of a deployment whose worker is gone, and with them
// their trainers, which write checkpoints. Says on `out` what it ends; gives
// their number.
absl::StatusOr<int> EndSupervisors(Context& context, const std::string& folder);

// Ends what runs in a folder: the keeper, which then ends the others, or
// without one the worker (its jobs write checkpoints and are queued again),
// supervisors whose worker is gone and then the scheduler. Says on `out` what
// it ends. *num_stopped counts the processes.
absl::Status StopDeployment(Context& context, const std::string& folder,
                            int* num_stopped);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_STOP_DEPLOYMENT_H_
