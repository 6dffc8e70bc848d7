#ifndef ORDO_WORKER_SUPERVISOR_PROC_H_
#define ORDO_WORKER_SUPERVISOR_PROC_H_

#include <cstdint>
#include <sys/types.h>
#include <vector>

// What the supervisor reads from /proc.

namespace ordo::worker::supervisor {

struct ProcessStat {
  pid_t pid = 0;
  // 'Z' for a zombie.
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  // Start time, clock ticks since boot.
  uint64_t start_ticks = 0;
};

// False when there is no such process.
bool ReadProcessStat(pid_t pid, ProcessStat* stat);

// All processes, zombies included. One that starts or ends meanwhile may be
// missing.
std::vector<ProcessStat> ListProcesses();

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_PROC_H_
