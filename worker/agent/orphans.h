#ifndef ORDO_WORKER_AGENT_ORPHANS_H_
#define ORDO_WORKER_AGENT_ORPHANS_H_

#include <string>
#include <vector>

#include "base/process/process.h"

namespace ordo::worker::agent {

// The running processes that belong to the task with this folder: a supervisor
// marks all its descendants with the environment variable ORDO_TASK=<folder>,
// which stays when they leave its session or when it dies. One that is being
// started has no environment for a moment, and is not found in it.
std::vector<base::ProcessId> FindTaskProcesses(const std::string& task_folder);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_ORPHANS_H_
