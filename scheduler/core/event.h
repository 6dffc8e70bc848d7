#ifndef ORDO_SCHEDULER_CORE_EVENT_H_
#define ORDO_SCHEDULER_CORE_EVENT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "proto/ordo/agent/v1/agent.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/scheduler.h"

// All that can happen to the core. Ids come in with the event.

namespace ordo::scheduler::core {

// A user creates jobs, all or none. Answered with them.
struct Submit {
  // The shell's number for the caller; comes back in Answer.
  uint64_t call = 0;
  std::vector<NewJob> jobs;
};

// A user ends a job. Answered with it.
struct Cancel {
  uint64_t call = 0;
  std::string job;
  std::string user;
};

// A worker says who it is and what it runs. Answered with AnswerAnnounce.
struct Announced {
  agent::v1::AnnounceRequest request;
};

// A worker answers a desired set.
struct Observed {
  std::string worker;
  std::string incarnation;
  agent::v1::ObservedSet observed;
};

// Time has passed.
struct Tick {};

// Jobs that have ended come back, as they are stored, for an event that names
// them. Those that are held already stay as they are. No effects.
struct Recall {
  std::vector<PastJob> jobs;
};

// Those of these jobs that have ended, and whose checkpoints no other job
// needs, may leave: all that was recorded of them is stored. No effects.
struct Forget {
  std::vector<std::string> jobs;
};

using Event =
    std::variant<Submit, Cancel, Announced, Observed, Tick, Recall, Forget>;

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EVENT_H_
