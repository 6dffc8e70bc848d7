#ifndef ORDO_BASE_FILES_TESTING_NO_LOCKS_H_
#define ORDO_BASE_FILES_TESTING_NO_LOCKS_H_

#include <functional>

namespace ordo::base::testing {

// Runs `body` on a thread of its own, to which all storage is without locks:
// flock gives ENOLCK, as on NFS without its lock service. Threads that it
// starts have none either. False, and `body` has not run, where this process
// may not filter its system calls.
bool RunWithoutLocks(const std::function<void()>& body);

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_FILES_TESTING_NO_LOCKS_H_
