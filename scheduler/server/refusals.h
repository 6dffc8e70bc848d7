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

// `has_request_id`: the call may be repeated with its request id, so that it is
// done once even if it was stored.
inline absl::Status NoRoom(bool has_request_id) {
  return absl::UnavailableError(absl::StrCat(
      "the disk of the scheduler's store is full, so nothing is acknowledged; "
      "running jobs go on; free space on it and try again",
      has_request_id ? ", with the same request id" : ""));
}

// For so many jobs a commit is under way or to come.
inline absl::Status TooManyWait(int64_t num_jobs, bool has_request_id) {
  return absl::ResourceExhaustedError(absl::StrCat(
      num_jobs,
      " changes wait for the scheduler's store, as many as may; when some have "
      "been answered, try again",
      has_request_id ? ", with the same request id" : ""));
}

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_REFUSALS_H_
