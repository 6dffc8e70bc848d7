#ifndef ORDO_WORKER_SUPERVISOR_CONFINEMENT_H_
#define ORDO_WORKER_SUPERVISOR_CONFINEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ordo::worker::supervisor {

// What a trainer may take and do, beside what holds of every one: it gains no
// privilege by what it executes, and leaves no core dump.
struct Confinement {
  // Whom it runs as, without further groups; -1: as its supervisor does.
  int64_t uid = -1;
  int64_t gid = -1;
  // Folder, of cgroup v2, that is made for it and removed; empty: none.
  std::string cgroup;
  // Main memory of all in that cgroup, in bytes; 0: any.
  int64_t memory_bytes = 0;
  // Processes and threads: in that cgroup, without one all that its user has on
  // this machine; 0: any. What runs as root is bound by the cgroup alone.
  int64_t processes = 0;
  // Of each of its files, and of each process's address space and of what that
  // maps to write for itself (RLIMIT_DATA), in bytes; 0: any.
  int64_t file_bytes = 0;
  int64_t address_space_bytes = 0;
  int64_t data_bytes = 0;
  // Open files of each process; 0: as many as its supervisor.
  int64_t open_files = 0;
  // Folders below which alone it may write, where the kernel has Landlock;
  // those that are not there are left out. Empty: wherever its user may.
  std::vector<std::string> writable;
  // Likewise what it may read and execute, beside `writable`, which then must
  // not be empty. Empty: all that its user may.
  std::vector<std::string> readable;
};

// Takes it on in the child that becomes the trainer.
class Confiner {
 public:
  // `cgroup_file`: cgroup.procs of the cgroup, open for writing; -1: none. Both
  // outlive it.
  Confiner(const Confinement& confinement, int cgroup_file)
      : confinement_(confinement), cgroup_file_(cgroup_file) {}
  ~Confiner();
  Confiner(const Confiner&) = delete;
  Confiner& operator=(const Confiner&) = delete;

  // In the supervisor, before there is a child. 0 or an errno.
  int Prepare();
  // In the child: the cgroup, the limits and the user. System calls only. 0 or
  // an errno, as below.
  int TakeLimits() const;
  // The last: no privileges by what is executed, no files but those allowed.
  int TakeRules() const;

 private:
  const Confinement& confinement_;
  const int cgroup_file_;
  // Of Landlock; -1: none.
  int rules_ = -1;
};

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_CONFINEMENT_H_
