#include "worker/agent/orphans.h"

#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <iterator>
#include <thread>

namespace ordo::worker::agent {
namespace {

// In the middle of exec() a process has memory, but its environment reads as
// empty: how often such a one is looked at again. Each look takes microseconds,
// and gives way to what it waits for.
constexpr int kMaxLooks = 1000;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string EnvironmentOf(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string environment = ReadWhole(folder + "/environ");
  for (int look = 1; environment.empty() && look < kMaxLooks; ++look) {
    // Threads of the kernel and zombies have no memory.
    const std::string memory = ReadWhole(folder + "/statm");
    if (memory.empty() || memory[0] == '0') break;
    std::this_thread::yield();
    environment = ReadWhole(folder + "/environ");
  }
  return environment;
}

}  // namespace

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
    const std::string environment = std::string(1, '\0') + EnvironmentOf(pid);
    if (environment.find(marker) == std::string::npos) continue;
    if (const auto id = base::IdentifyProcess(pid); id.ok()) {
      found.push_back(*id);
    }
  }
  closedir(folder);
  return found;
}

}  // namespace ordo::worker::agent
