#ifndef ORDO_WORKER_SUPERVISOR_CGROUP_H_
#define ORDO_WORKER_SUPERVISOR_CGROUP_H_

#include <cstdint>
#include <string>

#include "worker/supervisor/confinement.h"

namespace ordo::worker::supervisor {

// The cgroup (v2) of one trainer and all that it starts; its supervisor stays
// outside. The folder that it lies in is delegated, has the controllers
// `memory` and `pids` enabled for those below, and no process.
class Cgroup {
 public:
  Cgroup() = default;
  ~Cgroup();
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  // Makes it, with its limits; nothing where none is wanted. One that was left
  // behind is taken over. 0 or an errno.
  int Make(const Confinement& wanted);
  // Its cgroup.procs, open for writing; -1: there is none.
  int file() const { return file_; }
  // Which limits have been met (journal.h), as bits.
  uint32_t LimitsMet() const;
  // Removes it, once nothing runs in it. What cannot be removed stays.
  void Remove();

 private:
  std::string folder_;
  int file_ = -1;
};

// The number behind `name` and a blank, at the beginning of a line of `text`; 0
// where it does not stand there.
int64_t EventCount(const std::string& text, const std::string& name);

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_CGROUP_H_
