#ifndef ORDO_SCHEDULER_CORE_EXITS_H_
#define ORDO_SCHEDULER_CORE_EXITS_H_

#include <cstdint>
#include <string>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/training/v1/exit_code.pb.h"

// How an attempt ended and what follows from it.

namespace ordo::scheduler::core {

struct AttemptEnd {
  // DONE: succeeded. NEVER: failed, no further attempt. BUDGETED: counts
  // against retry.max_attempts. FREE: queued again.
  training::v1::RetryDecision decision = training::v1::FREE;
  // One of reason::kAttemptEnds.
  std::string reason;
  // A sentence for people: what happened and what to do.
  std::string message;
  int exit_code = 0;
  int signal = 0;
};

// Judges an attempt that a worker observed as EXITED. `stop_requested`: the
// worker was draining, so that death by a signal is no fault of the job.
AttemptEnd JudgeExit(const agent::v1::ObservedAttempt& observed,
                     bool stop_requested);

// The end of an attempt whose worker is gone.
AttemptEnd WorkerLost(const std::string& worker, const std::string& why);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EXITS_H_
