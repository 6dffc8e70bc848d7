#ifndef ORDO_WORKER_SUPERVISOR_LANDLOCK_H_
#define ORDO_WORKER_SUPERVISOR_LANDLOCK_H_

#include <string>
#include <vector>

// Rules of Landlock (landlock(7)): what a process may do with files whoever its
// user is. Links are followed before they are judged, and what is bound so can
// neither look into processes that are not nor, from Linux 6.12 on, signal
// them.

namespace ordo::worker::supervisor {

// Which interface the kernel has; 0: none.
int LandlockVersion();

// Makes rules by which files below `writable` may be read, written and
// executed, those below `readable` read and executed, and no others be written
// nor, unless `readable` is empty, be read. What is not there is left out. 0
// with a descriptor in `rules`, which is -1 where the kernel has no Landlock;
// or an errno.
int MakeRules(const std::vector<std::string>& writable,
              const std::vector<std::string>& readable, int* rules);

// Binds this thread, and all that it starts, for ever; it must have given up
// new privileges. A system call only. 0 or an errno.
int TakeOnRules(int rules);

}  // namespace ordo::worker::supervisor

#endif  // ORDO_WORKER_SUPERVISOR_LANDLOCK_H_
