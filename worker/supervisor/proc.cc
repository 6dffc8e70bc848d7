#include "worker/supervisor/proc.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace ordo::worker::supervisor {

bool ReadProcessStat(pid_t pid, ProcessStat* stat) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%d/stat", static_cast<int>(pid));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  const ssize_t num_bytes = read(file, text, sizeof(text) - 1);
  close(file);
  if (num_bytes <= 0) return false;
  text[num_bytes] = '\0';
  // The second field, the program's name in brackets, may hold anything; the
  // fields after its last bracket are plain.
  const char* rest = std::strrchr(text, ')');
  if (rest == nullptr) return false;
  int parent = 0;
  int group = 0;
  unsigned long long start_ticks = 0;
  const int num_read = std::sscanf(
      rest + 1,
      " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
      "%*d %llu",
      &stat->state, &parent, &group, &start_ticks);
  if (num_read != 4) return false;
  stat->pid = pid;
  stat->parent = parent;
  stat->group = group;
  stat->start_ticks = start_ticks;
  return true;
}

std::vector<ProcessStat> ListProcesses() {
  std::vector<ProcessStat> processes;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return processes;
  while (const dirent* entry = readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    ProcessStat stat;
    if (pid > 0 && ReadProcessStat(pid, &stat)) processes.push_back(stat);
  }
  closedir(folder);
  return processes;
}

}  // namespace ordo::worker::supervisor
