#ifndef ORDO_SCHEDULER_SERVER_REFUSALS_H_
#define ORDO_SCHEDULER_SERVER_REFUSALS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

// Why a call that would change something is not taken.

namespace ordo::scheduler::server {

inline absl::Status Leaving() {
  return absl::UnavailableError(
      "the scheduler is leaving; try again when it is back");
}

inline absl::Status NoRoom() {
  return absl::UnavailableError(
      "the disk of the scheduler's store is full, so nothing is acknowledged; "
      "running jobs go on; free space on it and try again, with the same "
      "request id");
}

// For so many jobs a commit is under way or to come.
inline absl::Status TooManyWait(int64_t num_jobs) {
  return absl::ResourceExhaustedError(
      absl::StrCat(num_jobs,
                   " changes wait for the scheduler's store, as many as may; "
                   "try again, with "
                   "the same request id, when some have been answered"));
}

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_REFUSALS_H_
