#ifndef ORDO_SCHEDULER_STORE_TESTING_FAULTY_VFS_H_
#define ORDO_SCHEDULER_STORE_TESTING_FAULTY_VFS_H_

#include <string>

namespace ordo::scheduler::store::testing {

// What is to go wrong below SQLite. Writes, truncations, syncs and removals of
// files count as writes.
struct Faults {
  // The process dies in this write, from 1 on, of which half is done; 0: never.
  int die_at = 0;
  // With it dies the machine: what was not synced is gone.
  bool machine_dies = false;
  // The disk is full: writes fail with ENOSPC.
  bool full = false;
  // Writes so far.
  int num_writes = 0;
};

// A SQLite VFS over the default one, by the name "faulty", in which these
// faults happen. One a process, not thread-safe. The first call makes it known
// to SQLite.
Faults& FaultyVfs();

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_FAULTY_VFS_H_
