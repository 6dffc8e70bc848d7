#ifndef ORDO_SERVICES_CLI_DOCTOR_MACHINE_H_
#define ORDO_SERVICES_CLI_DOCTOR_MACHINE_H_

#include <cstdint>
#include <string>

#include "services/cli/doctor/finding.h"

namespace ordo::services::cli::doctor {

// What checks of a machine judge. Numbers that are not known are -1.
struct MachineFacts {
  // Release of the kernel, and whether it has what processes are followed by
  // (pidfd) and freed of open files by (close_range): Linux 5.9.
  std::string kernel;
  bool has_process_calls = false;
  // And what keeps trainers from files: Landlock of Linux 5.19.
  bool has_landlock = false;
  // What one process may have open: now, and what it may ask for.
  int64_t open_files = -1;
  int64_t max_open_files = -1;
  // /proc/sys/fs/inotify: what one user may watch.
  int64_t inotify_instances = -1;
  int64_t inotify_watches = -1;
  // Controllers of this process's cgroup (version 2); empty: it has none.
  std::string controllers;
  // Cgroups can be made below this process's.
  bool cgroup_delegated = false;
  // Room of /dev/shm, in bytes.
  int64_t shared_memory_bytes = -1;
  // The kernel says that something keeps its clock right.
  bool clock_kept = false;
  // What TZ says, and whether it names a zone of this machine.
  std::string time_zone;
  bool time_zone_known = true;
};

// Of this machine. `root` is where /proc, /sys and /dev lie; "" but in tests.
MachineFacts ReadMachineFacts(const std::string& root);

// Checks named "machine/...".
Findings JudgeMachine(const MachineFacts& facts);

}  // namespace ordo::services::cli::doctor

#endif  // ORDO_SERVICES_CLI_DOCTOR_MACHINE_H_
