#include "scheduler/core/observe_attempt.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "scheduler/core/artifacts.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"
#include "scheduler/core/life.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/reasons.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;

// What the trainer says of how it begins.
void TakeStarted(JobEdit& edit, const training::v1::TrainerStarted& started) {
  jobs::v1::Attempt& attempt = edit.attempt();
  if (!started.build_digest().empty()) {
    attempt.set_build_digest(started.build_digest());
  }
  attempt.set_start_step(started.start_step());
  attempt.set_end_step(started.start_step());
  attempt.set_resumed_from(started.resumed_from());
  attempt.set_exact(started.exact());
  attempt.set_start_digest(started.state_digest());
  if (started.has_control()) *attempt.mutable_control() = started.control();
  for (const std::string& warning : started.warnings()) {
    AddWarning(edit, warning);
  }
  Live& live = *LiveIn(edit.entry());
  live.step = live.durable_step = started.start_step();
}

// The trainer has reported for the first time, maybe that it reads its data,
// which comes before it begins to train.
void TakeStart(JobEdit& edit, const ObservedAttempt& observed) {
  if (!observed.has_started() && !observed.has_run_time()) return;
  const training::v1::TrainerStarted& started = observed.started();
  if (edit.read().newest_attempt().has_run_time()) {
    const bool begins_late =
        !started.state_digest().empty() &&
        edit.read().newest_attempt().start_digest().empty();
    if (begins_late) TakeStarted(edit, started);
    return;
  }
  jobs::v1::Attempt& attempt = edit.attempt();
  *attempt.mutable_run_time() = observed.has_run_time()
                                    ? observed.run_time()
                                    : ToTimestamp(edit.turn().now.wall);
  TakeStarted(edit, started);
  if (NextState(edit.read().state, Trigger::kRun).has_value()) {
    Follow(edit, Trigger::kRun, reason::kRunning,
           absl::StrCat("attempt ", attempt.number(), " runs on ",
                        WhereOf(*LiveIn(edit.entry()))));
  }
}

// Counts the devices' time until now, and what they are used for from now on.
void TakeUse(JobEdit& edit, const ObservedAttempt& observed) {
  Live& live = *LiveIn(edit.entry());
  CountUse(edit.turn(), live);
  live.use = UseOf(edit.read(), observed.has_evaluation());
}

// The job's first step ever is what its user waited for.
void TakeFirstStep(JobEdit& edit, const ObservedAttempt& observed) {
  if (!observed.has_first_step_time() ||
      edit.read().newest_attempt().has_first_step_time()) {
    return;
  }
  bool is_first = edit.read().attempts.front()->number() == 1;
  for (const AttemptPtr& attempt : edit.read().attempts) {
    if (attempt->has_first_step_time()) is_first = false;
  }
  *edit.attempt().mutable_first_step_time() = observed.first_step_time();
  if (!is_first) return;
  const absl::Duration waited =
      ToTime(observed.first_step_time()) -
      absl::FromUnixNanos(edit.read().facts->create_ns);
  edit.turn().Counted(Count::What::kFirstStep, "",
                      std::max(0.0, absl::ToDoubleSeconds(waited)));
}

void TakeRecords(JobEdit& edit, const ObservedAttempt& observed) {
  const int32_t rank = observed.rank();
  const Live& live = *LiveIn(edit.entry());
  for (const agent::v1::DurableRecord& record : observed.records()) {
    if (record.number() <= AcknowledgedOf(edit.read(), rank)) continue;
    TakeDurableRecord(edit, rank, record);
    edit.SetAcknowledged(rank, record.number());
    edit.turn().desired_changed.insert(live.ranks[rank].worker);
  }
}

std::shared_ptr<const jobs::v1::Progress> ProgressOf(
    const Turn& turn, const ObservedAttempt& observed) {
  auto progress = std::make_shared<jobs::v1::Progress>();
  const training::v1::StepDone& step = observed.step();
  progress->set_step(step.step());
  progress->set_total_steps(step.total_steps());
  progress->set_loss(step.loss());
  progress->set_learning_rate(step.learning_rate());
  progress->set_tokens_per_second(step.tokens_per_second());
  progress->set_step_seconds(step.step_seconds());
  progress->set_evaluation(observed.evaluation().name());
  progress->set_evaluation_done(observed.evaluation().done());
  progress->set_evaluation_total(observed.evaluation().total());
  *progress->mutable_update_time() = ToTimestamp(turn.now.wall);
  return progress;
}

bool IsSame(const jobs::v1::Progress& a, const jobs::v1::Progress& b) {
  return a.step() == b.step() && a.loss() == b.loss() &&
         a.total_steps() == b.total_steps() &&
         a.evaluation() == b.evaluation() &&
         a.evaluation_done() == b.evaluation_done() &&
         a.evaluation_total() == b.evaluation_total();
}

// Of a training run by its steps. It evaluates and writes checkpoints besides:
// while it does, the same steps are left.
void TakeTimeLeft(Turn& turn, const JobRecord& job,
                  const jobs::v1::Progress& progress) {
  if (progress.total_steps() == 0 || !(progress.step_seconds() > 0)) return;
  const int64_t steps =
      std::max<int64_t>(0, progress.total_steps() - progress.step());
  ShowTimeLeft(
      turn, job,
      static_cast<double>(steps) * absl::Seconds(progress.step_seconds()));
}

void TakeProgress(Turn& turn, JobEntry& entry,
                  const ObservedAttempt& observed) {
  if (!observed.has_step() && !observed.has_evaluation()) return;
  Live& live = *LiveIn(entry);
  live.step = std::max(live.step, observed.step().step());
  auto progress = ProgressOf(turn, observed);
  if (live.progress != nullptr && IsSame(*live.progress, *progress)) return;
  live.progress = progress;
  TakeTimeLeft(turn, *entry.job, *progress);
  turn.Emit(PublishProgress{entry.job->id(), std::move(progress)});
}

// Since when what its worker tells of as EXITED is over: by the worker's clock,
// but not before the rank was last seen to run.
absl::Duration GoneAt(const Turn& turn, const LiveRank& rank,
                      const ObservedAttempt& observed) {
  if (!observed.has_end_time()) return turn.now.monotonic;
  return std::max(rank.seen, turn.state.clock.MonotonicAt(
                                 ToTime(observed.end_time()), turn.now));
}

}  // namespace

void ObserveAttempt(Turn& turn, JobEntry& entry,
                    const ObservedAttempt& observed) {
  LiveRank& rank = LiveIn(entry)->ranks[observed.rank()];
  rank.observed = true;
  rank.stopping |= observed.phase() == ObservedAttempt::STOPPING;
  if (observed.phase() != ObservedAttempt::EXITED) {
    rank.seen = turn.now.monotonic;
  } else if (!rank.gone_at.has_value()) {
    rank.gone_at = GoneAt(turn, rank, observed);
  }
  JobEdit edit(turn, entry);
  // It speaks for the attempt.
  const bool is_first = observed.rank() == 0;
  if (is_first) {
    TakeStart(edit, observed);
    TakeUse(edit, observed);
    TakeFirstStep(edit, observed);
  }
  TakeRecords(edit, observed);
  if (is_first) TakeProgress(turn, entry, observed);
  if (observed.phase() == ObservedAttempt::EXITED &&
      observed.records_size() < kMaxRecordsObserved) {
    if (is_first && observed.has_finished()) {
      edit.attempt().set_end_step(observed.finished().step());
      edit.attempt().set_end_digest(observed.finished().state_digest());
      edit.attempt().set_step_seconds(observed.finished().step_seconds());
    }
    EndRank(edit, observed.rank(),
            JudgeExit(observed, AskedOf(turn.state, entry)));
  }
  edit.Commit();
}

}  // namespace ordo::scheduler::core
