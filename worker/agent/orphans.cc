#include "worker/agent/orphans.h"

#include <cstdlib>
#include <dirent.h>
#include <functional>
#include <unistd.h>

namespace ordo::worker::agent {
namespace {

// The value of the mark in an environment as /proc shows it; empty: none.
std::string MarkIn(const std::string& environment) {
  // Each entry ends with a zero byte.
  const std::string name = std::string(1, '\0') + kTaskMark + "=";
  const std::string whole = std::string(1, '\0') + environment;
  const size_t at = whole.find(name);
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size();
  return whole.substr(begin, whole.find('\0', begin) - begin);
}

std::vector<base::ProcessId> FindMarked(
    const std::function<bool(const std::string&)>& wanted) {
  std::vector<base::ProcessId> found;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    const auto environment = base::ReadProcFile(pid, "environ");
    if (!environment.ok() || !wanted(MarkIn(*environment))) continue;
    if (const auto id = base::IdentifyProcess(pid); id.ok()) {
      found.push_back(*id);
    }
  }
  closedir(folder);
  return found;
}

}  // namespace

std::vector<base::ProcessId> FindTaskProcesses(const std::string& task_folder) {
  return FindMarked(
      [&](const std::string& mark) { return mark == task_folder; });
}

std::vector<base::ProcessId> FindOrphans(const std::string& state_folder,
                                         const std::set<std::string>& known) {
  const std::string prefix = state_folder + "/";
  return FindMarked([&](const std::string& mark) {
    return mark.rfind(prefix, 0) == 0 && known.count(mark) == 0;
  });
}

}  // namespace ordo::worker::agent
