#include "scheduler/core/waiting.h"

#include <algorithm>

#include "scheduler/core/board.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

// How many of the jobs that it needs have not ended. What is not known any more
// has ended.
int32_t WatchNeeds(State& state, const JobFacts& job) {
  int32_t count = 0;
  for (const NeededJob& need : job.needs) {
    const auto needed = state.jobs.find(need.id);
    if (needed == state.jobs.end() || IsTerminal(needed->second.job->state)) {
      continue;
    }
    state.needed_by[need.id].insert(job.id);
    ++count;
  }
  return count;
}

void ForgetNeeds(State& state, const JobFacts& job) {
  for (const NeededJob& need : job.needs) {
    const auto waiting = state.needed_by.find(need.id);
    if (waiting == state.needed_by.end()) continue;
    waiting->second.erase(job.id);
    if (waiting->second.empty()) state.needed_by.erase(waiting);
  }
}

// It does not wait for an answer any more.
void StopAwaiting(State& state, const std::string& job, Queued* queued) {
  if (!queued->awaits_answer) return;
  queued->awaits_answer = false;
  const auto waiting = state.awaited.find(state.awaits.at(job));
  waiting->second.erase(job);
  if (waiting->second.empty()) state.awaited.erase(waiting);
  state.awaits.erase(job);
}

// Sets until when the job may wait. While one that has parts waits for them,
// that is their time.
void SetQueueLimit(State& state, const JobFacts& facts, const QueueTimes& times,
                   Queued* queued) {
  const bool counts = facts.parts.empty() || queued->num_needed == 0;
  const absl::Duration limit = facts.demand().queue_time_limit;
  if (!counts || limit == absl::ZeroDuration()) return;
  SetDeadline(state, {Deadline::Kind::kQueueLimit, facts.id, &queued->limit_at},
              std::max(times.now, times.since + limit - times.waited));
}

}  // namespace

void PlaceInQueue(State& state, JobEntry& entry, const JobRecord& job,
                  const QueueTimes& times) {
  const JobFacts& facts = *job.facts;
  Queued queued;
  queued.since = times.since;
  if (times.backoff.has_value()) {
    SetDeadline(state, {Deadline::Kind::kBackoff, facts.id, &queued.not_before},
                times.now + *times.backoff);
  }
  queued.num_needed = WatchNeeds(state, facts);
  queued.awaits_checkpoint = AwaitsCheckpoint(state, entry, facts);
  SetQueueLimit(state, facts, times, &queued);
  entry.place = queued;
  UpdateWaiting(state, entry, job);
}

void EnterQueue(Turn& turn, JobEntry& entry, JobRecord& job,
                absl::Duration backoff) {
  QueueTimes times;
  times.now = times.since = turn.now.monotonic;
  times.waited = absl::Nanoseconds(job.waited_ns);
  job.queue_ns = absl::ToUnixNanos(turn.now.wall);
  if (backoff > absl::ZeroDuration()) {
    times.backoff = backoff;
    job.not_before_ns = absl::ToUnixNanos(turn.now.wall + backoff);
  }
  PlaceInQueue(turn.state, entry, job, times);
}

void BeginOwnWait(Turn& turn, JobEntry& entry) {
  JobEdit edit(turn, entry);
  edit.job().queue_ns = absl::ToUnixNanos(turn.now.wall);
  QueueTimes times;
  times.now = times.since = turn.now.monotonic;
  times.waited = absl::Nanoseconds(edit.read().waited_ns);
  Queued& queued = std::get<Queued>(entry.place);
  queued.since = times.since;
  SetQueueLimit(turn.state, *edit.read().facts, times, &queued);
  edit.Commit();
}

void LeaveQueue(Turn& turn, JobEntry& entry, JobRecord& job) {
  Queued& queued = std::get<Queued>(entry.place);
  const std::string& id = job.id();
  SetDeadline(turn.state, {Deadline::Kind::kBackoff, id, &queued.not_before},
              std::nullopt);
  SetDeadline(turn.state, {Deadline::Kind::kQueueLimit, id, &queued.limit_at},
              std::nullopt);
  StopWaiting(turn.state, job);
  ForgetNeeds(turn.state, *job.facts);
  StopAwaiting(turn.state, id, &queued);
  job.waited_ns += absl::ToInt64Nanoseconds(turn.now.monotonic - queued.since);
  job.queue_ns = 0;
  job.not_before_ns = 0;
}

const char* WaitReason(const JobRecord& job, const Queued& queued) {
  if (!job.held_by.empty()) return reason::kHeld;
  if (queued.num_needed > 0) return reason::kWaitingForNeeds;
  if (queued.not_before.has_value()) return reason::kBackoff;
  if (queued.awaits_checkpoint) return reason::kWaitingForCheckpoint;
  if (queued.awaits_answer) return reason::kWaitingForResult;
  return reason::kWaitingForDevice;
}

void UpdateWaiting(State& state, const JobEntry& entry, const JobRecord& job) {
  if (WaitReason(job, std::get<Queued>(entry.place)) ==
      reason::kWaitingForDevice) {
    StartWaiting(state, entry, job);
  } else {
    StopWaiting(state, job);
  }
}

void EndBackoff(Turn& turn, const std::string& job) {
  JobEntry& entry = turn.state.jobs.at(job);
  std::get<Queued>(entry.place).not_before.reset();
  UpdateWaiting(turn.state, entry, *entry.job);
  turn.freed.push_back(job);
}

void TellFollowers(Turn& turn, const std::string& job) {
  for (const std::string& id : FollowersOf(turn.state, job)) {
    JobEntry& entry = turn.state.jobs.at(id);
    auto* queued = std::get_if<Queued>(&entry.place);
    if (queued == nullptr || !queued->awaits_checkpoint) continue;
    const JobFacts& facts = *entry.job->facts;
    queued->awaits_checkpoint = AwaitsCheckpoint(turn.state, entry, facts);
    if (queued->awaits_checkpoint) continue;
    UpdateWaiting(turn.state, entry, *entry.job);
    turn.freed.push_back(id);
  }
}

void RecordWaits(Turn& turn) {
  for (const std::string& job : turn.freed) {
    JobEntry& entry = turn.state.jobs.at(job);
    const auto* queued = std::get_if<Queued>(&entry.place);
    if (queued == nullptr) continue;
    JobEdit edit(turn, entry);
    if (!queued->not_before.has_value()) edit.job().not_before_ns = 0;
    edit.job().reason = WaitReason(edit.read(), *queued);
    edit.Commit();
  }
}

}  // namespace ordo::scheduler::core
