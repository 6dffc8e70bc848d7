#include "scheduler/core/life.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "scheduler/core/artifacts.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/pace.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/references.h"
#include "scheduler/core/trials.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

bool MustSucceed(const JobFacts& job, const std::string& needed) {
  return std::any_of(job.needs.begin(), job.needs.end(),
                     [&needed](const NeededJob& need) {
                       return need.id == needed && need.must_succeed;
                     });
}

// What to do about a job that another needs.
std::string TryAnother(const std::string& job) {
  return absl::StrCat("; to try again with another: ordo rerun ", job,
                      " --set 'needs=[{job: jobs/OTHER}]'");
}

// A job that waits never starts, for this reason.
void FailForNeed(Turn& turn, JobEntry& entry, const std::string& why) {
  JobEdit edit(turn, entry);
  LeaveQueue(turn, entry, edit.job());
  Follow(edit, Trigger::kFail, reason::kNeedFailed, why);
  FinishJob(edit);
  edit.Commit();
}

// Why a job whose needs have ended cannot start all the same, and what to do:
// one of them left none of the checkpoints that it was to, its trials no score,
// or its paces no measurement. Empty: it can.
std::string WhatIsMissing(const State& state, const JobFacts& job) {
  const Demand& demand = job.demand();
  if (!demand.paces.empty() && !PacedSteps(state, demand).has_value()) {
    return absl::StrCat(NothingMeasuredBy(demand), "; see why: ordo show ",
                        demand.paces[0]);
  }
  const Trials& trials = demand.tuned_by;
  if (!trials.jobs.empty() && !BestTrial(state, trials).has_value()) {
    return absl::StrCat(NothingOf(state, trials), "; see why: ordo show ",
                        trials.jobs[0]);
  }
  for (const std::string& name : job.references) {
    if (!IsDecidedLater(name) || FindReferenced(state, name) != nullptr) {
      continue;
    }
    const auto needed = state.jobs.find(JobIdOf(name));
    return absl::StrCat(
        "job ", JobIdOf(name), ", whose ", NamesBest(name) ? "best" : "newest",
        " checkpoint it names, ",
        needed == state.jobs.end()
            ? std::string("is not there")
            : absl::StrCat("has ended as ", jobs::v1::Job::State_Name(
                                                needed->second.job->state)),
        NamesBest(name)
            ? " and left no checkpoint that it has evaluated; give it "
              "evaluations with every_steps"
            : " and left no checkpoint",
        TryAnother(job.id));
  }
  return "";
}

// The job has ended: those that follow it evaluate what is left, or have
// nothing to.
void EndFollowing(Turn& turn, const std::string& job) {
  const auto ended = turn.state.jobs.find(job);
  if (ended != turn.state.jobs.end() &&
      NewestCheckpoint(ended->second) == nullptr) {
    for (const std::string& id : FollowersOf(turn.state, job)) {
      JobEntry& entry = turn.state.jobs.at(id);
      if (!std::holds_alternative<Queued>(entry.place)) continue;
      FailForNeed(turn, entry,
                  absl::StrCat("job ", job,
                               ", whose checkpoints it follows, "
                               "has ended and left none"));
    }
    return;
  }
  TellFollowers(turn, job);
}

// A job that `job` needs has ended.
void TakeNeed(Turn& turn, const std::string& job, const JobRecord& needed) {
  JobEntry& entry = turn.state.jobs.at(job);
  if (needed.state != jobs::v1::Job::SUCCEEDED &&
      MustSucceed(*entry.job->facts, needed.id())) {
    FailForNeed(
        turn, entry,
        absl::StrCat("job ", needed.id(), ", which it needs, has ended as ",
                     jobs::v1::Job::State_Name(needed.state), TryAnother(job)));
    return;
  }
  if (--std::get<Queued>(entry.place).num_needed > 0) return;
  const std::string missing = WhatIsMissing(turn.state, *entry.job->facts);
  if (!missing.empty()) {
    FailForNeed(turn, entry, missing);
    return;
  }
  if (!entry.job->facts->parts.empty()) BeginOwnWait(turn, entry);
  UpdateWaiting(turn.state, entry, *entry.job);
  turn.freed.push_back(job);
}

}  // namespace

void Follow(JobEdit& edit, Trigger trigger, const std::string& reason,
            const std::string& message) {
  JobRecord& job = edit.job();
  const auto next = NextState(job.state, trigger);
  ORDO_CHECK(next.has_value())
      << job.id() << ": " << jobs::v1::Job::State_Name(job.state)
      << " does not accept " << TriggerName(trigger);
  job.state = *next;
  job.reason = reason;
  job.message = message;
}

void FinishJob(JobEdit& edit) {
  Turn& turn = edit.turn();
  JobRecord& job = edit.job();
  job.end_ns = absl::ToUnixNanos(turn.now.wall);
  job.not_before_ns = 0;
  edit.entry().place = Ended{};
  CountUnfinished(turn.state, *job.facts, -1);
  RemovePins(turn.state, *job.facts);
  if (turn.state.needed_by.count(job.id()) > 0 ||
      !FollowersOf(turn.state, job.id()).empty()) {
    turn.ended.push_back(job.id());
  }
  // What this job alone kept may go now.
  for (const std::string& name : job.facts->references) {
    const auto entry = turn.state.jobs.find(JobIdOf(name));
    if (entry != turn.state.jobs.end()) ApplyRetention(turn, entry->second);
  }
}

void SettleNeeds(Turn& turn) {
  while (!turn.ended.empty()) {
    const std::string id = std::move(turn.ended.back());
    turn.ended.pop_back();
    EndFollowing(turn, id);
    const auto waiting = turn.state.needed_by.extract(id);
    if (waiting.empty()) continue;
    const JobPtr needed = turn.state.jobs.at(id).job;
    for (const std::string& job : waiting.mapped()) {
      TakeNeed(turn, job, *needed);
    }
  }
}

}  // namespace ordo::scheduler::core
