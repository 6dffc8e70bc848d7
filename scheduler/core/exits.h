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

// What was asked of what runs of an attempt.
enum class Asked {
  kRun,
  // To write a checkpoint and leave: death by a signal is then no fault of the
  // job.
  kStop,
  // To leave, because another rank ended badly.
  kKill,
  // To leave, because its job is cancelled.
  kCancel,
};

// Judges a rank of an attempt that a worker observed as EXITED.
AttemptEnd JudgeExit(const agent::v1::ObservedAttempt& observed, Asked asked);

// What follows from an end with this reason, one of reason::kAttemptEnds.
training::v1::RetryDecision DecisionOf(const std::string& reason);

// The end of what ran on a worker that is gone.
AttemptEnd WorkerLost(const std::string& worker, const std::string& why);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EXITS_H_
