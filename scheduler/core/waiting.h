#ifndef ORDO_SCHEDULER_CORE_WAITING_H_
#define ORDO_SCHEDULER_CORE_WAITING_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "scheduler/core/turn.h"

// How a job waits: for the end of a backoff, for jobs that it needs, to be
// released, for a checkpoint of the job that it follows (follow.h), for what
// another job answers (results.h), and when nothing of that holds it up, for
// devices. Internal to scheduler/core.

namespace ordo::scheduler::core {

// Who puts a job on hold that nobody is named for.
inline constexpr char kUnknownUser[] = "unknown";

struct QueueTimes {
  // Monotonic: now, and since when it waits.
  absl::Duration now;
  absl::Duration since;
  // How long its backoff lasts from now on, if it has one.
  std::optional<absl::Duration> backoff;
  // In all, before `since`.
  absl::Duration waited;
};

// Makes Queued the place of the entry, whose record is, or is to be, `job`.
void PlaceInQueue(State& state, JobEntry& entry, const JobRecord& job,
                  const QueueTimes& times);

// The same for a job that begins to wait now, with the fields of `job` that
// tell of it but reason and message.
void EnterQueue(Turn& turn, JobEntry& entry, JobRecord& job,
                absl::Duration backoff);
// All that a job with parts needs has ended, these among it: it waits for
// itself from now on, and its queue_time_limit counts.
void BeginOwnWait(Turn& turn, JobEntry& entry);
// The job of the entry waits no more; the caller gives it another place.
void LeaveQueue(Turn& turn, JobEntry& entry, JobRecord& job);

// What a queued job waits for: one of the reasons of reasons.h.
const char* WaitReason(const JobRecord& job, const Queued& queued);

// Brings State.waiting up to date with what holds up a queued job.
void UpdateWaiting(State& state, const JobEntry& entry, const JobRecord& job);

// The backoff of a queued job is over.
void EndBackoff(Turn& turn, const std::string& job);

// The job has another checkpoint, or has ended: those that follow it and have
// waited for that wait for devices.
void TellFollowers(Turn& turn, const std::string& job);

// Records of the jobs of turn.freed which found no devices what they wait for.
void RecordWaits(Turn& turn);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_WAITING_H_
