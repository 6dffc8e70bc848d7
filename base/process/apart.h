#ifndef ORDO_BASE_PROCESS_APART_H_
#define ORDO_BASE_PROCESS_APART_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::base {

// Runs `work` in a process of its own and returns what it gave: code that may
// crash, hang or spoil what a process can have only once (a GPU's context)
// takes nothing else with it. The process is a copy of this one, which must
// have no other thread; all that `work` changes is lost.
//
// ABORTED: it ended before it gave anything, with the signal or exit code.
// DEADLINE_EXCEEDED: it did not end in time and was killed.
absl::StatusOr<std::string> RunApart(const std::function<std::string()>& work,
                                     absl::Duration timeout);

}  // namespace ordo::base

#endif  // ORDO_BASE_PROCESS_APART_H_
