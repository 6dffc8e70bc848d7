#include "scheduler/core/attempts.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/backoff/backoff.h"
#include "base/units/units.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/board.h"
#include "scheduler/core/follow.h"
#include "scheduler/core/life.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/results.h"
#include "scheduler/core/waiting.h"
#include "scheduler/past_usage.h"

namespace ordo::scheduler::core {
namespace {

Live LiveOf(const Turn& turn, const JobEntry& entry,
            const std::vector<policy::Part>& parts) {
  Live live;
  for (const policy::Part& part : parts) {
    LiveRank& rank = live.ranks.emplace_back();
    rank.worker = part.worker;
    rank.devices = part.devices;
    rank.seen = rank.counted = turn.now.monotonic;
  }
  live.started = live.durable = turn.now.monotonic;
  if (const CheckpointPtr newest = NewestCheckpoint(entry)) {
    live.step = live.durable_step = newest->step();
  }
  return live;
}

// What the attempt's record tells of where it runs.
void DescribePlace(const State& state, const Live& live, JobEdit& edit) {
  jobs::v1::Attempt& attempt = edit.attempt();
  const LiveRank& first = live.ranks.front();
  attempt.set_worker(first.worker);
  for (const std::string& device : first.devices) attempt.add_devices(device);
  attempt.set_build_digest(state.workers.at(first.worker).build_digest);
  for (size_t i = 0; live.ranks.size() > 1 && i < live.ranks.size(); ++i) {
    jobs::v1::Attempt::Rank& rank = *attempt.add_ranks();
    rank.set_worker(live.ranks[i].worker);
    for (const std::string& device : live.ranks[i].devices) {
      rank.add_devices(device);
    }
  }
  for (size_t i = 0; i < live.ranks.size(); ++i) {
    edit.SetIncarnation(static_cast<int32_t>(i),
                        state.workers.at(live.ranks[i].worker).incarnation);
  }
}

const char* LabelOf(DeviceUse use) {
  switch (use) {
    case DeviceUse::kStart:
      return "start";
    case DeviceUse::kTrain:
      return "train";
    case DeviceUse::kEvaluate:
      return "evaluate";
    case DeviceUse::kBenchmark:
      return "benchmark";
    case DeviceUse::kSummarize:
      return "summarize";
  }
  return "";
}

// Counts what the attempt used up to its end, and lost.
void Account(JobEdit& edit, const Live& live, const AttemptEnd& end) {
  Turn& turn = edit.turn();
  jobs::v1::Attempt& attempt = edit.attempt();
  turn.Counted(Count::What::kAttemptEnded, end.reason);
  attempt.set_device_seconds(live.device_seconds);
  attempt.set_idle_device_seconds(live.idle_device_seconds);
  if (end.decision == training::v1::DONE) return;
  const int64_t lost = std::max<int64_t>(0, live.step - live.durable_step);
  attempt.set_lost_device_seconds(live.unsaved_device_seconds);
  attempt.set_lost_steps(lost);
  turn.Counted(Count::What::kDeviceSecondsLost, end.reason,
               live.unsaved_device_seconds);
  turn.Counted(Count::What::kStepsLost, end.reason, static_cast<double>(lost));
}

base::BackoffOptions Backoff(const State& state) {
  base::BackoffOptions options;
  options.initial = state.options.retry_backoff;
  options.max = state.options.retry_backoff_max;
  return options;
}

// A budgeted failure: another attempt, or the end.
void Fail(JobEdit& edit, const AttemptEnd& end, int32_t number) {
  Turn& turn = edit.turn();
  JobRecord& job = edit.job();
  const int max_attempts = job.facts->max_attempts;
  ++job.failed_attempts;
  if (job.failed_attempts >= max_attempts) {
    Follow(edit, Trigger::kFail, reason::kAttemptsExhausted,
           absl::StrCat(job.failed_attempts, " of ", max_attempts,
                        " allowed attempts failed; the last: ", end.message));
    FinishJob(edit);
    return;
  }
  const absl::Duration delay =
      base::BackoffDelay(Backoff(turn.state), job.failed_attempts,
                         absl::StrCat(job.id(), "/", number));
  Follow(edit, Trigger::kRetry, reason::kBackoff,
         absl::StrCat("attempt ", number, " failed (", end.reason,
                      "): ", end.message, "; the next starts after ",
                      base::HumanDuration(delay)));
  EnterQueue(turn, edit.entry(), job, delay);
}

// Stops and preemptions are meant, and a number that is taken is followed by
// another one; what the machines did is counted.
bool IsInterruption(const AttemptEnd& end) {
  return end.reason != reason::kStopped && end.reason != reason::kPreempted &&
         end.reason != reason::kFolderTaken;
}

void Interrupt(JobEdit& edit, const AttemptEnd& end, int32_t number) {
  Turn& turn = edit.turn();
  JobRecord& job = edit.job();
  absl::Duration delay;
  if (IsInterruption(end)) {
    const int max_interruptions = job.facts->max_interruptions;
    if (++job.interruptions >= max_interruptions) {
      Follow(edit, Trigger::kFail, reason::kInterruptionsExhausted,
             absl::StrCat(job.interruptions, " of ", max_interruptions,
                          " allowed attempts in a row ended by no fault of the "
                          "job and without a new checkpoint; the last: ",
                          end.message,
                          "; look at the workers, write checkpoints more "
                          "often, or raise retry.max_interruptions"));
      FinishJob(edit);
      return;
    }
    // The first starts again at once.
    delay = base::BackoffDelay(Backoff(turn.state), job.interruptions - 1,
                               absl::StrCat(job.id(), "/", number));
  }
  Follow(edit, Trigger::kInterrupt, end.reason,
         absl::StrCat("attempt ", number, " ended by no fault of the job: ",
                      end.message, "; it waits for a device again"));
  EnterQueue(turn, edit.entry(), job, delay);
}

// What there was to evaluate is evaluated, and the job that it follows may
// write more.
void WaitForMore(JobEdit& edit) {
  JobRecord& job = edit.job();
  job.failed_attempts = 0;
  job.interruptions = 0;
  Follow(edit, Trigger::kInterrupt, reason::kWaitingForCheckpoint, "");
  EnterQueue(edit.turn(), edit.entry(), job, absl::ZeroDuration());
  job.reason = WaitReason(job, std::get<Queued>(edit.entry().place));
}

bool IsCancelled(const JobRecord& job) {
  return job.state == jobs::v1::Job::CANCELLING;
}

// What follows from the end of the attempt for its job.
void Conclude(JobEdit& edit, const AttemptEnd& end) {
  const int32_t number = edit.read().attempt_number();
  if (IsCancelled(edit.read())) {
    const std::string message =
        end.reason == reason::kStoppedEarly
            ? end.message
            : absl::StrCat("cancelled by ", edit.read().cancelled_by.value());
    Follow(edit, Trigger::kInterrupt, end.reason, message);
    FinishJob(edit);
  } else if (end.decision == training::v1::DONE &&
             IsStuck(edit.turn().state, edit.entry())) {
    Fail(edit, end, number);
  } else if (end.decision == training::v1::DONE &&
             GoesOn(edit.turn().state, edit.entry())) {
    WaitForMore(edit);
  } else if (end.decision == training::v1::DONE) {
    // Of a gate it is the verdict that people look for.
    const bool is_gate = edit.read().facts->kind == jobs::v1::JobSpec::GATE;
    Follow(edit, Trigger::kFinish, end.reason,
           is_gate ? end.message : "the job finished");
    FinishJob(edit);
  } else if (end.decision == training::v1::NEVER) {
    Follow(edit, Trigger::kFail, end.reason, end.message);
    FinishJob(edit);
  } else if (end.decision == training::v1::FREE) {
    Interrupt(edit, end, number);
  } else {
    Fail(edit, end, number);
  }
}

// That moment by the wall clock, as it is set now; of the attempt, which began
// before.
absl::Time WallAt(const JobEdit& edit, absl::Duration at, const Moment& now) {
  const absl::Time start = ToTime(edit.read().newest_attempt().start_time());
  return std::min(now.wall, std::max(start, now.wall - (now.monotonic - at)));
}

// All ranks are over.
void EndAttempt(JobEdit& edit, const AttemptEnd& told) {
  Turn& turn = edit.turn();
  const std::string id = edit.read().id();
  AttemptEnd end = AsAsked(edit.read().newest_attempt(), told);
  if (IsCancelled(edit.read())) {
    end.reason = edit.read().reason.value();
    if (end.reason == reason::kStoppedEarly) {
      end.message = edit.read().message.value();
    }
  }
  Live live = *LiveIn(edit.entry());
  SetDeadline(turn.state, {Deadline::Kind::kRunLimit, id, &live.limit_at},
              std::nullopt);
  absl::Duration ended = live.started;
  for (const LiveRank& rank : live.ranks) {
    ended = std::max(ended, rank.counted);
  }
  ShowEnd(turn, edit.read(), ended);
  EndAnswers(turn, live);
  Account(edit, live, end);
  jobs::v1::Attempt& attempt = edit.attempt();
  *attempt.mutable_end_time() = ToTimestamp(WallAt(edit, ended, turn.now));
  attempt.set_exit_code(end.exit_code);
  attempt.set_signal(end.signal);
  attempt.set_end_step(std::max(live.step, attempt.end_step()));
  attempt.set_reason(end.reason);
  attempt.set_message(end.message);
  edit.job().incarnation.clear();
  edit.job().acknowledged_records = 0;
  turn.Emit(PublishProgress{id, nullptr});
  Conclude(edit, end);
}

// What its oldest attempt used stays known.
void ForgetOldest(JobRecord* job) {
  auto past = job->earlier_usage == nullptr
                  ? std::make_shared<usage::v1::PastUsage>()
                  : std::make_shared<usage::v1::PastUsage>(*job->earlier_usage);
  AddAttempt(*job->attempts.front(), past.get());
  FoldDays(kMaxUsageDaysOfJob, past.get());
  job->earlier_usage = std::move(past);
  job->attempts.erase(job->attempts.begin());
}

// Has the device that a rank computed on judged by its end, if that tells of
// it: it failed the rank, or that finished and something may be held against
// it.
void NoteForDevice(JobEdit& edit, const LiveRank& rank, const AttemptEnd& end) {
  Turn& turn = edit.turn();
  const bool finished = end.reason == reason::kFinished &&
                        AdminOf(turn.state, rank.worker) != nullptr;
  const Asked asked = AskedOf(edit.read());
  const bool failed = end.reason == reason::kDeviceError &&
                      asked != Asked::kKill && asked != Asked::kCancel;
  if ((!finished && !failed) || rank.devices.empty()) return;
  turn.rank_ends.push_back(
      {edit.read().id(), rank.worker, rank.devices.front(), finished});
}

}  // namespace

void TellWorkersOf(Turn& turn, const Live& live) {
  for (const LiveRank& rank : live.ranks) {
    if (rank.over) continue;
    turn.desired_changed.insert(rank.worker);
    turn.workers_changed.insert(rank.worker);
  }
}

void TellPeersOf(Turn& turn, const Worker& worker) {
  for (const auto& [job, rank] : worker.live) {
    TellWorkersOf(turn, *LiveIn(turn.state.jobs.at(job)));
  }
}

void CountUse(Turn& turn, Live& live) {
  // Below 0 when a rank had ended before what was counted for it.
  double used = 0;
  for (LiveRank& rank : live.ranks) {
    if (rank.over) continue;
    const absl::Duration until = rank.gone_at.value_or(turn.now.monotonic);
    used += absl::ToDoubleSeconds(until - rank.counted) *
            static_cast<double>(rank.devices.size());
    rank.counted = until;
  }
  const auto count = [used](double* sum) { *sum = std::max(0.0, *sum + used); };
  count(&live.device_seconds);
  count(&live.unsaved_device_seconds);
  if (live.use == DeviceUse::kStart) count(&live.idle_device_seconds);
  live.idle_device_seconds =
      std::min(live.idle_device_seconds, live.device_seconds);
  if (used <= 0) return;
  turn.Counted(Count::What::kDeviceSeconds, LabelOf(live.use), used);
}

void StartAttempt(Turn& turn, const std::string& id,
                  const std::vector<policy::Part>& parts) {
  State& state = turn.state;
  JobEntry& entry = state.jobs.at(id);
  Live live = LiveOf(turn, entry, parts);
  ShowStart(state, *entry.job, live);

  JobEdit edit(turn, entry);
  JobRecord& job = edit.job();
  turn.Counted(Count::What::kQueueWait, QueueOf(*job.facts->spec),
               absl::ToDoubleSeconds(turn.now.monotonic -
                                     std::get<Queued>(entry.place).since));
  LeaveQueue(turn, entry, job);
  const int32_t number = job.attempt_number() + 1;
  if (job.attempts.size() == kMaxAttemptsKept) ForgetOldest(&job);
  jobs::v1::Attempt& attempt = edit.AddAttempt();
  attempt.set_number(number);
  *attempt.mutable_start_time() = ToTimestamp(turn.now.wall);
  DescribePlace(state, live, edit);
  if (job.start_ns == 0) job.start_ns = absl::ToUnixNanos(turn.now.wall);
  Follow(edit, Trigger::kPlace, reason::kStarting,
         absl::StrCat("attempt ", number, " starts on ", WhereOf(live)));
  if (job.facts->demand().shape.run_time_limit > absl::ZeroDuration()) {
    SetDeadline(state, {Deadline::Kind::kRunLimit, job.id(), &live.limit_at},
                turn.now.monotonic + job.facts->demand().shape.run_time_limit);
  }
  TellWorkersOf(turn, live);
  entry.place = Box<Live>(std::move(live));
  const auto& ranks = LiveIn(entry)->ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    state.workers.at(ranks[i].worker)
        .live.insert({id, static_cast<int32_t>(i)});
  }
  edit.Commit();
  BeginAnswers(state, entry);
}

void StopAttempt(JobEdit& edit, const std::string& reason,
                 const std::string& message) {
  if (AskedOf(edit.read()) != Asked::kRun) return;
  edit.attempt().set_reason(reason);
  edit.attempt().set_message(message);
  edit.job().message =
      absl::StrCat("attempt ", edit.read().attempt_number(),
                   " is being stopped with a checkpoint: ", message);
  TellWorkersOf(edit.turn(), *LiveIn(edit.entry()));
  ShowStopping(edit.turn(), edit.read(), edit.turn().state.options.stop_grace);
}

void EndRank(JobEdit& edit, int32_t rank, const AttemptEnd& end) {
  Turn& turn = edit.turn();
  Live& live = *LiveIn(edit.entry());
  CountUse(turn, live);
  NoteForDevice(edit, live.ranks[rank], end);
  live.ranks[rank].over = true;
  Worker& worker = turn.state.workers.at(live.ranks[rank].worker);
  worker.live.erase({edit.read().id(), rank});
  turn.desired_changed.insert(worker.id);
  turn.workers_changed.insert(worker.id);
  const absl::Duration ended = live.ranks[rank].counted;
  ShowRankEnd(turn, edit.read(), rank, ended);
  if (live.ranks.size() == 1) {
    EndAttempt(edit, end);
  } else {
    const Asked asked = AskedOf(edit.read());
    TakeRankEnd(rank, end, WallAt(edit, ended, turn.now), &edit.attempt());
    if (AllOver(live.ranks)) {
      EndAttempt(edit, EndOfRanks(edit.read().newest_attempt()));
    } else if (AskedOf(edit.read()) != asked) {
      TellWorkersOf(turn, live);
      ShowStopping(turn, edit.read(), turn.state.options.rank_grace);
    }
  }
}

void ExpireRunTime(Turn& turn, const std::string& job) {
  JobEntry& entry = turn.state.jobs.at(job);
  LiveIn(entry)->limit_at.reset();
  JobEdit edit(turn, entry);
  StopAttempt(edit, reason::kRunTimeLimit,
              absl::StrCat("it ran for longer than its run_time_limit of ",
                           base::HumanDuration(
                               entry.job->facts->demand().shape.run_time_limit),
                           "; to go on from its newest checkpoint: ordo "
                           "continue ",
                           job, " --steps N"));
  edit.Commit();
}

}  // namespace ordo::scheduler::core
