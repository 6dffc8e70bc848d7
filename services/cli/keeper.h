#ifndef ORDO_SERVICES_CLI_KEEPER_H_
#define ORDO_SERVICES_CLI_KEEPER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/cli/context.h"
#include "services/cli/deployment.h"

namespace ordo::services::cli {

// A process that dies is started again within this time (it then needs its own
// time to serve), however often it has died.
inline constexpr absl::Duration kRestartWithin = absl::Seconds(1);

// How often a keeper looks after its processes.
inline constexpr absl::Duration kKeeperPoll = absl::Milliseconds(20);

// How long after its end the next start comes; `num_failures` ends in a row
// came soon after a start, this one included.
absl::Duration RestartDelay(int num_failures);

// How long a keeper that is started in this folder now may take until
// everything answers; what an earlier one left may have to end first.
absl::Duration ReadyTimeout(base::Filesystem& files, const std::string& folder);

// Takes the deployment's lock, ends what a keeper that was killed has left (its
// jobs go on under the new processes), starts the scheduler and the worker,
// writes endpoints.json and what is remembered, prints where it answers,
// restarts whichever dies, and at the interrupt of `context` ends both. Returns
// then, or at once with what is wrong.
absl::Status KeepDeployment(Context& context, const DeploymentOptions& options);

// The last line that a process wrote, from `offset` of its log on; empty when
// there is none.
std::string LastLogLine(base::Filesystem& files, const std::string& path,
                        uint64_t offset);

}  // namespace ordo::services::cli

#endif  // ORDO_SERVICES_CLI_KEEPER_H_
