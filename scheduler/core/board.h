#ifndef ORDO_SCHEDULER_CORE_BOARD_H_
#define ORDO_SCHEDULER_CORE_BOARD_H_

#include <cstdint>

#include "absl/time/time.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/turn.h"
#include "scheduler/policy/standing.h"

// Between the core's state and the board that placement decides by. Internal to
// scheduler/core.

namespace ordo::scheduler::core {

// Puts a job on the board that waits for devices from now on, or takes it off.
// What is so already changes nothing. `entry` is the job's, `job` its record as
// it will be.
void StartWaiting(State& state, const JobEntry& entry, const JobRecord& job);
void StopWaiting(State& state, const JobRecord& job);

// Where the job of the entry, which is queued and does not wait for devices,
// would stand if it did.
policy::Standing StandingOf(const State& state, const JobEntry& entry,
                            absl::Duration now);

// Brings the board up to date with a queue that is new, changed or deleted;
// none of a deleted one's jobs waits or runs.
void ShowQueue(State& state, const queues::v1::Queue& queue);

// Puts a job on the board that has another priority now.
void ShowPriority(State& state, const JobRecord& job);

// Brings the board up to date with a worker, also one that is known from the
// records alone.
void ShowWorker(State& state, Worker& worker);
void ForgetOnBoard(State& state, const Worker& worker);

// The attempts of the board: one begins, whose job waits for devices and whose
// workers are shown; a rank of it is over, and has been since `at` (monotonic);
// all of it is; it wrote a checkpoint; it has so much left to do; it was told
// to end within a grace.
void ShowStart(State& state, const JobRecord& job, const Live& live);
void ShowRankEnd(Turn& turn, const JobRecord& job, int32_t rank,
                 absl::Duration at);
void ShowEnd(Turn& turn, const JobRecord& job, absl::Duration at);
void ShowCheckpoint(Turn& turn, const JobRecord& job);
void ShowTimeLeft(Turn& turn, const JobRecord& job, absl::Duration left);
void ShowStopping(Turn& turn, const JobRecord& job, absl::Duration grace);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_BOARD_H_
