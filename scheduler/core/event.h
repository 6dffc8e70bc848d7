#ifndef ORDO_SCHEDULER_CORE_EVENT_H_
#define ORDO_SCHEDULER_CORE_EVENT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/scheduler.h"

// All that can happen to the core. Ids come in with the event.

namespace ordo::scheduler::core {

// A user creates jobs, all or none. Answered with them.
struct Submit {
  // The shell's number for the caller; comes back in Answer.
  uint64_t call = 0;
  std::vector<NewJob> jobs;
  // Those of the jobs that are named here, by id or request id, which have left
  // the store.
  std::vector<RetiredJob> retired = {};
};

// A user ends a job and its parts. Answered with it.
struct Cancel {
  uint64_t call = 0;
  std::string job;
  std::string user;
};

// A user puts a queued job, and its parts that are, on hold, or releases them.
// Answered with it.
struct Hold {
  uint64_t call = 0;
  std::string job;
  std::string user;
};
struct Release {
  uint64_t call = 0;
  std::string job;
  std::string user;
};

// A user changes the priority of a queued job and of its parts that are.
// Answered with it.
struct SetPriority {
  uint64_t call = 0;
  std::string job;
  std::string user;
  int32_t priority = 0;
};

// A person changes a queue. Answered with AnswerQueue.
struct ChangeQueue {
  enum class Verb { kCreate, kUpdate, kDelete };

  uint64_t call = 0;
  Verb verb = Verb::kCreate;
  // With its name, as it is to be; to be deleted: with its name, and an etag if
  // it matters.
  queues::v1::Queue queue;
  Author author;
};

// A person closes or opens a worker, or releases one of its devices from
// quarantine. Answered with AnswerWorker.
struct ChangeWorker {
  enum class Verb { kCordon, kDrain, kUncordon, kRelease };

  uint64_t call = 0;
  Verb verb = Verb::kCordon;
  std::string worker;
  // kDrain.
  absl::Time drain_at;
  Author author;
  // kRelease.
  std::string device = {};
};

// A person has an alias name a checkpoint, or deletes it. Answered with
// AnswerAlias.
struct ChangeAlias {
  enum class Verb { kSet, kDelete };

  uint64_t call = 0;
  Verb verb = Verb::kSet;
  // To be deleted: its id, and an etag if it matters.
  AliasSetting setting;
  Author author;
};

// A person pins, thins or deletes a checkpoint. Answered with AnswerCheckpoint.
struct ChangeCheckpoint {
  uint64_t call = 0;
  CheckpointVerb verb = CheckpointVerb::kPin;
  // As ResolveReference takes it, or the name of one that was removed.
  std::string checkpoint;
  Author author;
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

// Those of these jobs that have ended, and which no other job holds on to
// (PinnedBy), may leave: all that was recorded of them is stored. No effects.
struct Forget {
  std::vector<std::string> jobs;
};

using Event =
    std::variant<Submit, Cancel, Hold, Release, SetPriority, ChangeQueue,
                 ChangeWorker, ChangeAlias, ChangeCheckpoint, Announced,
                 Observed, Tick, Recall, Forget>;

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EVENT_H_
