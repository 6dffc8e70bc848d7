#ifndef ORDO_SCHEDULER_SERVER_REFUSALS_H_
#define ORDO_SCHEDULER_SERVER_REFUSALS_H_

#include "absl/status/status.h"

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

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_REFUSALS_H_
