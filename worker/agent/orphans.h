#ifndef ORDO_WORKER_AGENT_ORPHANS_H_
#define ORDO_WORKER_AGENT_ORPHANS_H_

#include <set>
#include <string>
#include <vector>

#include "base/process/process.h"

// Processes are known by a mark in their environment, which they inherit, and
// which stays when they leave their session or when what started them dies.
// One that is being started has no environment for a moment, and is not found
// by it.

namespace ordo::worker::agent {

// The environment variable whose value is the mark: of a task its folder, of a
// probe its files' common name.
inline constexpr char kTaskMark[] = "ORDO_TASK";

// The running processes of the task with this folder, its supervisor among
// them.
std::vector<base::ProcessId> FindTaskProcesses(const std::string& task_folder);

// The running processes that a worker with this state folder has started, but
// those whose mark is one of `known`.
std::vector<base::ProcessId> FindOrphans(const std::string& state_folder,
                                         const std::set<std::string>& known);

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_ORPHANS_H_
