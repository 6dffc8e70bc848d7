#include "worker/agent/orphans.h"

#include <cstdlib>
#include <dirent.h>

namespace ordo::worker::agent {

std::vector<base::ProcessId> FindTaskProcesses(const std::string& task_folder) {
  std::vector<base::ProcessId> found;
  // Between entries of an environment is a zero byte.
  const std::string marker =
      std::string(1, '\0') + "ORDO_TASK=" + task_folder + std::string(1, '\0');
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0) continue;
    const auto environment = base::ReadProcFile(pid, "environ");
    if (!environment.ok()) continue;
    if ((std::string(1, '\0') + *environment).find(marker) ==
        std::string::npos) {
      continue;
    }
    if (const auto id = base::IdentifyProcess(pid); id.ok()) {
      found.push_back(*id);
    }
  }
  closedir(folder);
  return found;
}

}  // namespace ordo::worker::agent
