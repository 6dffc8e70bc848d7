#ifndef ORDO_BASE_PROCESS_USE_H_
#define ORDO_BASE_PROCESS_USE_H_

#include <cstdint>
#include <sys/types.h>

#include "absl/status/statusor.h"

namespace ordo::base {

// What a process has used, and uses, as the machine counts it.
struct ProcessUse {
  // Of processors, by all of its threads since it began.
  double cpu_seconds = 0;
  // Main memory that it has.
  int64_t resident_bytes = 0;
  int64_t num_threads = 0;
  // Since it began.
  double age_seconds = 0;
};

// NOT_FOUND when there is no such process.
absl::StatusOr<ProcessUse> UseOf(pid_t process);

// What it has open: files, sockets and the like. NOT_FOUND as above, and for a
// process of another user's.
absl::StatusOr<int64_t> CountOpenFiles(pid_t process);

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_USE_H_
