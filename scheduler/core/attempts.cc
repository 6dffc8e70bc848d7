#include "scheduler/core/attempts.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/backoff/backoff.h"
#include "base/check.h"
#include "base/units/units.h"
#include "scheduler/core/artifacts.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/references.h"

namespace ordo::scheduler::core {
namespace {

void StartAttempt(Turn& turn, const policy::Placement& placement) {
  JobEntry& entry = turn.state.jobs.at(placement.job);
  Worker& worker = turn.state.workers.at(placement.device.worker);
  StopWaiting(turn.state, *entry.job->facts);
  Live live;
  live.worker = worker.id;
  live.device = placement.device.device;
  live.counted = live.durable = turn.now.monotonic;
  if (const CheckpointPtr newest = NewestCheckpoint(entry)) {
    live.step = live.durable_step = newest->step();
  }

  JobEdit edit(turn, entry);
  JobRecord& job = edit.job();
  const int32_t number = job.attempt_number() + 1;
  if (job.attempts.size() == kMaxAttemptsKept) {
    job.attempts.erase(job.attempts.begin());
  }
  jobs::v1::Attempt& attempt = edit.AddAttempt();
  attempt.set_number(number);
  attempt.set_worker(worker.id);
  attempt.add_devices(live.device);
  attempt.set_build_digest(worker.build_digest);
  *attempt.mutable_start_time() = ToTimestamp(turn.now.wall);
  if (job.start_ns == 0) job.start_ns = absl::ToUnixNanos(turn.now.wall);
  job.not_before_ns = 0;
  job.incarnation = worker.incarnation;
  Follow(edit, Trigger::kPlace, reason::kStarting,
         absl::StrCat("attempt ", number, " starts on ", worker.id, ", ",
                      live.device));
  entry.place = std::move(live);
  worker.live.insert(placement.job);
  IndexFreeDevices(turn.state, worker);
  edit.Commit();
  turn.desired_changed.insert(worker.id);
  turn.workers_changed.insert(worker.id);
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
  }
  return "";
}

// Counts what the attempt used up to its end, and lost.
void Account(Turn& turn, Live& live, const AttemptEnd& end) {
  const absl::Duration now = turn.now.monotonic;
  turn.Counted(Count::What::kAttemptEnded, end.reason);
  CountUse(turn, live);
  if (end.decision == training::v1::DONE || end.reason == reason::kStopped) {
    return;
  }
  turn.Counted(Count::What::kDeviceSecondsLost, end.reason,
               absl::ToDoubleSeconds(now - live.durable));
  turn.Counted(
      Count::What::kStepsLost, end.reason,
      static_cast<double>(std::max<int64_t>(0, live.step - live.durable_step)));
}

// Attempts in a row, up to the newest, that ended by no fault of the job
// before they made a step.
int NumFruitless(const JobRecord& job) {
  int count = 0;
  for (auto it = job.attempts.rbegin(); it != job.attempts.rend(); ++it) {
    const jobs::v1::Attempt& attempt = **it;
    const bool is_free = attempt.reason() == reason::kWorkerLost ||
                         attempt.reason() == reason::kHostFailed ||
                         attempt.reason() == reason::kStopped;
    if (!is_free || attempt.has_first_step_time()) break;
    ++count;
  }
  return count;
}

// Queues the job again, after a delay if there is one.
void Requeue(JobEdit& edit, absl::Duration delay) {
  Turn& turn = edit.turn();
  JobRecord& job = edit.job();
  const std::string& id = job.id();
  Queued queued;
  if (delay > absl::ZeroDuration()) {
    SetDeadline(turn.state, {Deadline::Kind::kBackoff, id, &queued.not_before},
                turn.now.monotonic + delay);
    job.not_before_ns = absl::ToUnixNanos(turn.now.wall + delay);
  } else {
    StartWaiting(turn.state, *job.facts);
  }
  edit.entry().place = queued;
}

base::BackoffOptions Backoff(const State& state) {
  base::BackoffOptions options;
  options.initial = state.options.retry_backoff;
  options.max = state.options.retry_backoff_max;
  return options;
}

void EndJob(JobEdit& edit) {
  Turn& turn = edit.turn();
  JobRecord& job = edit.job();
  job.end_ns = absl::ToUnixNanos(turn.now.wall);
  job.not_before_ns = 0;
  edit.entry().place = Ended{};
  RemovePins(turn.state, *job.facts);
  // What this job alone kept may go now.
  for (const std::string& name : job.facts->references) {
    const auto entry = turn.state.jobs.find(
        name.substr(5, name.find('/', 5) - 5));  // jobs/{job}/checkpoints/{id}
    if (entry != turn.state.jobs.end()) ApplyRetention(turn, entry->second);
  }
}

// A budgeted failure: another attempt, or the end.
void Fail(JobEdit& edit, const AttemptEnd& end, int32_t number) {
  State& state = edit.turn().state;
  JobRecord& job = edit.job();
  const int max_attempts = job.facts->max_attempts;
  ++job.failed_attempts;
  if (job.failed_attempts >= max_attempts) {
    Follow(edit, Trigger::kFail, reason::kAttemptsExhausted,
           absl::StrCat(job.failed_attempts, " of ", max_attempts,
                        " allowed attempts failed; the last: ", end.message));
    EndJob(edit);
    return;
  }
  const absl::Duration delay = base::BackoffDelay(
      Backoff(state), job.failed_attempts, absl::StrCat(job.id(), "/", number));
  Follow(edit, Trigger::kRetry, reason::kBackoff,
         absl::StrCat("attempt ", number, " failed (", end.reason,
                      "): ", end.message, "; the next starts after ",
                      base::HumanDuration(delay)));
  Requeue(edit, delay);
}

void Interrupt(JobEdit& edit, const AttemptEnd& end, int32_t number) {
  const JobRecord& job = edit.job();
  const absl::Duration delay = base::BackoffDelay(
      Backoff(edit.turn().state), std::max(0, NumFruitless(job) - 1),
      absl::StrCat(job.id(), "/", number));
  Follow(edit, Trigger::kInterrupt, end.reason,
         absl::StrCat("attempt ", number, " ended by no fault of the job: ",
                      end.message, "; it waits for a device again"));
  Requeue(edit, delay);
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

void CountUse(Turn& turn, Live& live) {
  const absl::Duration used = turn.now.monotonic - live.counted;
  live.counted = turn.now.monotonic;
  if (used <= absl::ZeroDuration()) return;
  turn.Counted(Count::What::kDeviceSeconds, LabelOf(live.use),
               absl::ToDoubleSeconds(used));
}

void PlaceJobs(Turn& turn) {
  State& state = turn.state;
  const std::vector<policy::Placement> placements =
      state.options.place({state.waiting, state.free});
  for (const policy::Placement& placement : placements) {
    StartAttempt(turn, placement);
  }
  if (placements.size() >= policy::kMaxPlacements) {
    state.deadlines.insert({turn.now.monotonic, Deadline::Kind::kPlace, ""});
  }
}

void EndAttempt(JobEdit& edit, const AttemptEnd& end) {
  Turn& turn = edit.turn();
  JobEntry& entry = edit.entry();
  Account(turn, std::get<Live>(entry.place), end);
  const Live live = std::get<Live>(entry.place);
  const std::string& id = entry.job->id();
  jobs::v1::Attempt& attempt = edit.attempt();
  const int32_t number = attempt.number();
  *attempt.mutable_end_time() = ToTimestamp(turn.now.wall);
  attempt.set_exit_code(end.exit_code);
  attempt.set_signal(end.signal);
  attempt.set_end_step(std::max(live.step, attempt.end_step()));
  const bool cancelled = edit.job().state == jobs::v1::Job::CANCELLING;
  attempt.set_reason(cancelled ? reason::kCancelledByUser : end.reason);
  attempt.set_message(end.message);

  edit.job().incarnation.clear();
  edit.job().acknowledged_records = 0;

  Worker& worker = turn.state.workers.at(live.worker);
  worker.live.erase(id);
  turn.desired_changed.insert(worker.id);
  turn.workers_changed.insert(worker.id);
  turn.Emit(PublishProgress{id, live.worker, live.device, nullptr});

  if (cancelled) {
    Follow(edit, Trigger::kInterrupt, reason::kCancelledByUser,
           absl::StrCat("cancelled by ", edit.job().cancelled_by));
    EndJob(edit);
  } else if (end.decision == training::v1::DONE) {
    Follow(edit, Trigger::kFinish, end.reason, "the job finished");
    EndJob(edit);
  } else if (end.decision == training::v1::NEVER) {
    Follow(edit, Trigger::kFail, end.reason, end.message);
    EndJob(edit);
  } else if (end.decision == training::v1::FREE) {
    Interrupt(edit, end, number);
  } else {
    Fail(edit, end, number);
  }
  IndexFreeDevices(turn.state, worker);
}

void HandleCancel(Turn& turn, const Cancel& cancel) {
  const auto it = turn.state.jobs.find(cancel.job);
  if (it == turn.state.jobs.end()) {
    turn.Emit(Answer{cancel.call, absl::NotFoundError(absl::StrCat(
                                      "there is no job ", cancel.job,
                                      "; see: ordo list jobs"))});
    return;
  }
  JobEntry& entry = it->second;
  const JobState state = entry.job->state;
  if (IsTerminal(state)) {
    turn.Emit(Answer{cancel.call,
                     absl::FailedPreconditionError(absl::StrCat(
                         "job ", cancel.job, " has ended already: ",
                         jobs::v1::Job::State_Name(state),
                         "; to run it again: ordo rerun ", cancel.job))});
    return;
  }
  if (state != jobs::v1::Job::CANCELLING) {
    JobEdit edit(turn, entry);
    edit.job().cancelled_by = cancel.user;
    if (state == jobs::v1::Job::QUEUED) {
      Queued& queued = std::get<Queued>(entry.place);
      SetDeadline(turn.state,
                  {Deadline::Kind::kBackoff, cancel.job, &queued.not_before},
                  std::nullopt);
      StopWaiting(turn.state, *entry.job->facts);
      Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
             absl::StrCat("cancelled by ", cancel.user, " while it waited"));
      EndJob(edit);
    } else {
      Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
             absl::StrCat("cancelled by ", cancel.user,
                          "; its trainer is being ended"));
      turn.desired_changed.insert(std::get<Live>(entry.place).worker);
    }
    edit.Commit();
  }
  turn.Emit(Answer{cancel.call, std::vector<JobPtr>{entry.job}});
}

void EndBackoff(Turn& turn, const std::string& job) {
  JobEntry& entry = turn.state.jobs.at(job);
  std::get<Queued>(entry.place).not_before.reset();
  StartWaiting(turn.state, *entry.job->facts);
  turn.backoff_ended.push_back(job);
}

void RecordWaits(Turn& turn) {
  for (const std::string& job : turn.backoff_ended) {
    JobEntry& entry = turn.state.jobs.at(job);
    if (!std::holds_alternative<Queued>(entry.place)) continue;
    JobEdit edit(turn, entry);
    edit.job().not_before_ns = 0;
    edit.job().reason = reason::kWaitingForDevice;
    edit.Commit();
  }
}

}  // namespace ordo::scheduler::core
