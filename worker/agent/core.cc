#include "worker/agent/core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "base/units/proto_time.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::agent::v1::DesiredAttempt;
using ::ordo::agent::v1::DurableRecord;
using ::ordo::agent::v1::ObservedAttempt;
using ::ordo::agent::v1::ObservedSet;
using ::ordo::agent::v1::SetDesiredRequest;
using ::ordo::training::v1::ProgressRecord;

constexpr size_t kMaxJobIdBytes = 63;

AttemptKey KeyOf(const DesiredAttempt& desired) {
  return {desired.job(), desired.attempt(), desired.rank()};
}

// A job's id becomes part of paths.
absl::Status CheckKey(const AttemptKey& key) {
  const bool plain =
      std::all_of(key.job.begin(), key.job.end(), [](const char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      });
  if (key.job.empty() || key.job.size() > kMaxJobIdBytes || !plain ||
      key.attempt < 1 || key.rank < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("not an attempt of a job: ", key.ToString()));
  }
  return absl::OkStatus();
}

// The durable fact in a progress record, if it is one.
bool ToDurable(const ProgressRecord& record, DurableRecord* durable) {
  *durable->mutable_time() = record.time();
  switch (record.event_case()) {
    case ProgressRecord::kCheckpoint:
      *durable->mutable_checkpoint() = record.checkpoint();
      return true;
    case ProgressRecord::kCheckpointFailed:
      *durable->mutable_checkpoint_failed() = record.checkpoint_failed();
      return true;
    case ProgressRecord::kReport:
      *durable->mutable_report() = record.report();
      return true;
    case ProgressRecord::kWarning:
      *durable->mutable_warning() = record.warning();
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string AttemptKey::ToString() const {
  const std::string first = absl::StrCat(job, ".", attempt);
  return rank == 0 ? first : absl::StrCat(first, ".", rank);
}

absl::StatusOr<AttemptKey> ParseAttemptKey(std::string_view text) {
  AttemptKey key;
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), '.');
  const bool parsed =
      (parts.size() == 2 || parts.size() == 3) &&
      absl::SimpleAtoi(parts[1], &key.attempt) &&
      (parts.size() == 2 || absl::SimpleAtoi(parts[2], &key.rank));
  if (parsed) key.job = parts[0];
  if (!parsed || key.ToString() != text) {
    return absl::InvalidArgumentError(absl::StrCat(
        "not <job>.<attempt> or <job>.<attempt>.<rank>: ", std::string(text)));
  }
  ORDO_RETURN_IF_ERROR(CheckKey(key));
  return key;
}

Core::Core(std::string worker, std::string incarnation, std::string trainer)
    : worker_(std::move(worker)),
      incarnation_(std::move(incarnation)),
      trainer_(std::move(trainer)) {}

void Core::Changed(News news) {
  ++sequence_;
  if (news == News::kUrgent) urgent_sequence_ = sequence_;
  if (news == News::kStarts) start_sequence_ = sequence_;
}

News Core::NewsSince(int64_t sequence) const {
  if (urgent_sequence_ > sequence) return News::kUrgent;
  if (start_sequence_ > sequence) return News::kStarts;
  return sequence_ > sequence ? News::kSteps : News::kNone;
}

void Core::Add(const DesiredAttempt& desired) {
  Attempt& attempt = attempts_[KeyOf(desired)];
  attempt.task = desired;
  attempt.observed.set_job(desired.job());
  attempt.observed.set_attempt(desired.attempt());
  attempt.observed.set_rank(desired.rank());
  *attempt.observed.mutable_devices() = desired.devices();
  attempt.observed.set_phase(ObservedAttempt::STARTING);
  Changed(News::kUrgent);
}

void Core::Adopt(const DesiredAttempt& task) {
  Add(task);
  attempts_[KeyOf(task)].started = true;
}

absl::StatusOr<Actions> Core::SetDesired(const SetDesiredRequest& request) {
  if (request.worker() != worker_) {
    return absl::InvalidArgumentError(
        absl::StrCat("worker: this is ", worker_, ", not ", request.worker()));
  }
  if (request.incarnation() != incarnation_) {
    return absl::FailedPreconditionError(absl::StrCat("incarnation: this is ",
                                                      incarnation_, ", not ",
                                                      request.incarnation()));
  }
  for (const DesiredAttempt& desired : request.attempts()) {
    ORDO_RETURN_IF_ERROR(CheckKey(KeyOf(desired)));
  }
  const std::pair<int64_t, int64_t> set{request.epoch(), request.sequence()};
  if (set < newest_set_) {
    return absl::AbortedError(absl::StrCat(
        "sequence: set ", set.first, ".", set.second, " is older than ",
        newest_set_.first, ".", newest_set_.second));
  }
  newest_set_ = set;
  for (auto& [key, attempt] : attempts_) attempt.listed = false;
  Actions actions;
  for (const DesiredAttempt& desired : request.attempts()) {
    TakeDesired(desired, &actions);
  }
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.listed) continue;
    // Nobody wants its result: no grace.
    RequestEnd(key, Ending::kKill, absl::ZeroDuration(), &actions);
  }
  StartReady(&actions);
  return actions;
}

void Core::TakeDesired(const DesiredAttempt& desired, Actions* actions) {
  const AttemptKey key = KeyOf(desired);
  const bool run = desired.action() == DesiredAttempt::RUN;
  auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    Add(desired);
    Attempt& attempt = attempts_[key];
    const bool has_task = desired.task_case() != DesiredAttempt::TASK_NOT_SET;
    if (run && has_task && !draining_ && forgotten_.count(key) == 0) return;
    // It cannot be started (again): the answer is that it is over.
    attempt.observed.set_phase(ObservedAttempt::EXITED);
    attempt.observed.set_cause(ObservedAttempt::KILLED);
    attempt.observed.set_message(draining_ ? "its worker is being drained"
                                           : "its worker does not run it");
    return;
  }
  Attempt& attempt = found->second;
  attempt.listed = true;
  // What was stored of an adopted attempt may be damaged.
  if (attempt.task.devices().empty()) {
    *attempt.task.mutable_devices() = desired.devices();
    *attempt.observed.mutable_devices() = desired.devices();
  }
  attempt.task.set_acknowledged_records(std::max(
      attempt.task.acknowledged_records(), desired.acknowledged_records()));
  while (!attempt.records.empty() &&
         attempt.records.front().number() <= desired.acknowledged_records()) {
    attempt.records.pop_front();
    // More may be waiting to be sent.
    Changed(attempt.records.size() >= kMaxRecordsSent ? News::kUrgent
                                                      : News::kSteps);
  }
  if (run) return;
  RequestEnd(
      key,
      desired.action() == DesiredAttempt::STOP ? Ending::kStop : Ending::kKill,
      base::ToDuration(desired.grace()), actions);
}

void Core::RequestEnd(const AttemptKey& key, Ending ending,
                      absl::Duration grace, Actions* actions) {
  Attempt& attempt = attempts_[key];
  if (attempt.observed.phase() == ObservedAttempt::EXITED ||
      attempt.ending >= ending) {
    return;
  }
  attempt.ending = ending;
  Changed(News::kUrgent);
  if (!attempt.started) {
    attempt.observed.set_phase(ObservedAttempt::EXITED);
    attempt.observed.set_cause(ObservedAttempt::KILLED);
    attempt.observed.set_message("ended before it was started");
    return;
  }
  attempt.observed.set_phase(ObservedAttempt::STOPPING);
  actions->push_back(
      {ending == Ending::kStop ? Action::Kind::kStop : Action::Kind::kKill,
       key,
       grace,
       {}});
}

Actions Core::Drain(absl::Duration grace) {
  draining_ = true;
  Changed(News::kUrgent);
  Actions actions;
  for (const auto& [key, attempt] : attempts_) {
    RequestEnd(key, Ending::kStop, grace, &actions);
  }
  return actions;
}

Core::Held Core::HeldDevices() const {
  Held held;
  for (const auto& [key, attempt] : attempts_) {
    if (!attempt.started ||
        attempt.observed.phase() == ObservedAttempt::EXITED) {
      continue;
    }
    const auto& taken = attempt.task.devices();
    held.any = held.any || taken.empty();
    held.devices.insert(taken.begin(), taken.end());
  }
  return held;
}

bool Core::DevicesAreFree(const Attempt& attempt) const {
  const Held held = HeldDevices();
  const auto& wanted = attempt.task.devices();
  return std::none_of(wanted.begin(), wanted.end(), [&](const auto& device) {
    return held.any || held.devices.count(device) > 0;
  });
}

void Core::StartReady(Actions* actions) {
  for (auto& [key, attempt] : attempts_) {
    if (attempt.started ||
        attempt.observed.phase() != ObservedAttempt::STARTING ||
        !DevicesAreFree(attempt)) {
      continue;
    }
    attempt.started = true;
    actions->push_back(
        {Action::Kind::kStart, key, absl::ZeroDuration(), attempt.task});
  }
}

void Core::OnProgress(const AttemptKey& key, const ProgressRecord& record) {
  auto found = attempts_.find(key);
  if (found == attempts_.end()) return;
  Attempt& attempt = found->second;
  attempt.last_record = base::ToTime(record.time());
  ObservedAttempt& observed = attempt.observed;
  News news = News::kSteps;
  if (!observed.has_run_time()) {
    news = News::kStarts;
    *observed.mutable_run_time() = record.time();
    if (observed.phase() == ObservedAttempt::STARTING) {
      observed.set_phase(ObservedAttempt::RUNNING);
    }
  }
  DurableRecord durable;
  if (ToDurable(record, &durable)) {
    durable.set_number(++attempt.num_records);
    if (durable.number() > attempt.task.acknowledged_records()) {
      attempt.records.push_back(std::move(durable));
      news = News::kUrgent;
    }
  }
  switch (record.event_case()) {
    case ProgressRecord::kStarted:
      *observed.mutable_started() = record.started();
      news = std::max(news, News::kStarts);
      break;
    case ProgressRecord::kStep:
      if (!observed.has_first_step_time()) {
        *observed.mutable_first_step_time() = record.time();
        news = std::max(news, News::kStarts);
      }
      *observed.mutable_step() = record.step();
      observed.clear_evaluation();
      break;
    case ProgressRecord::kEvaluation:
      *observed.mutable_evaluation() = record.evaluation();
      // Its report may wait for the disk, or be one that is there already.
      if (record.evaluation().done() >= record.evaluation().total()) {
        observed.clear_evaluation();
      }
      break;
    case ProgressRecord::kReport:
      observed.clear_evaluation();
      break;
    case ProgressRecord::kFinished:
      *observed.mutable_finished() = record.finished();
      break;
    default:
      break;
  }
  Changed(news);
}

void Core::OnDamage(const AttemptKey& key, const absl::Status& damage) {
  auto found = attempts_.find(key);
  if (found == attempts_.end() || damage.ok()) return;
  found->second.damage = std::string(damage.message());
}

void Core::Describe(const SupervisorFacts& facts, Attempt& attempt) {
  DescribeEnd(facts, attempt.ending != Ending::kNone, trainer_,
              &attempt.observed);
  if (attempt.observed.cause() == ObservedAttempt::EXIT &&
      !attempt.observed.has_finished() && !attempt.damage.empty()) {
    attempt.observed.set_message(attempt.damage);
  }
}

Actions Core::OnFacts(const AttemptKey& key, const SupervisorFacts& facts) {
  auto found = attempts_.find(key);
  if (found == attempts_.end()) return {};
  Attempt& attempt = found->second;
  ObservedAttempt& observed = attempt.observed;
  if (observed.phase() == ObservedAttempt::EXITED) return {};
  // An earlier worker process may have asked.
  if (facts.stop_requested) {
    attempt.ending = std::max(attempt.ending, Ending::kStop);
  }
  if (facts.kill_requested) attempt.ending = Ending::kKill;
  if (attempt.ending != Ending::kNone &&
      observed.phase() != ObservedAttempt::STOPPING) {
    observed.set_phase(ObservedAttempt::STOPPING);
    Changed(News::kUrgent);
  }
  if (!facts.group_empty) return {};
  Describe(facts, attempt);
  return Exit(attempt, absl::FromUnixNanos(facts.group_empty_ns));
}

Actions Core::OnStartFailed(const AttemptKey& key, ObservedAttempt::Cause cause,
                            const std::string& message) {
  auto found = attempts_.find(key);
  if (found == attempts_.end()) return {};
  found->second.observed.set_cause(cause);
  found->second.observed.set_message(message);
  return Exit(found->second, absl::UnixEpoch());
}

Actions Core::OnSupervisorLost(const AttemptKey& key,
                               const SupervisorFacts& facts) {
  auto found = attempts_.find(key);
  if (found == attempts_.end()) return {};
  Attempt& attempt = found->second;
  // Of an end that nobody wrote down, the last sign of life.
  absl::Time end = std::max(absl::FromUnixNanos(facts.trainer_start_ns),
                            attempt.last_record);
  if (facts.exit || facts.start_failure) {
    Describe(facts, attempt);
    end = absl::FromUnixNanos(
        (facts.exit ? facts.exit : facts.start_failure)->time_ns);
  } else {
    const bool asked = attempt.ending != Ending::kNone;
    attempt.observed.set_cause(asked ? ObservedAttempt::KILLED
                                     : ObservedAttempt::SUPERVISOR_LOST);
    attempt.observed.set_message("its supervisor died");
  }
  return Exit(attempt, end);
}

Actions Core::Exit(Attempt& attempt, absl::Time end) {
  attempt.observed.set_phase(ObservedAttempt::EXITED);
  if (end > absl::UnixEpoch()) {
    *attempt.observed.mutable_end_time() = base::ToTimestamp(end);
  }
  Changed(News::kUrgent);
  Actions actions;
  StartReady(&actions);
  return actions;
}

Actions Core::ForgetUnlisted() {
  std::vector<AttemptKey> ended;
  for (const auto& [key, attempt] : attempts_) {
    if (!attempt.listed &&
        attempt.observed.phase() == ObservedAttempt::EXITED) {
      ended.push_back(key);
    }
  }
  Actions actions;
  for (const AttemptKey& key : ended) Forget(key, &actions);
  return actions;
}

void Core::Forget(const AttemptKey& key, Actions* actions) {
  attempts_.erase(key);
  if (forgotten_.insert(key).second) forgotten_order_.push_back(key);
  if (forgotten_order_.size() > kMaxForgotten) {
    forgotten_.erase(forgotten_order_.front());
    forgotten_order_.pop_front();
  }
  actions->push_back({Action::Kind::kForget, key, absl::ZeroDuration(), {}});
  Changed(News::kSteps);
}

ObservedSet Core::Observed() const {
  ObservedSet set;
  set.set_sequence(sequence_);
  for (const auto& [key, attempt] : attempts_) {
    ObservedAttempt* observed = set.add_attempts();
    *observed = attempt.observed;
    for (const DurableRecord& record : attempt.records) {
      if (observed->records_size() >= kMaxRecordsSent) break;
      *observed->add_records() = record;
    }
  }
  return set;
}

const ObservedAttempt* Core::Find(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  return found == attempts_.end() ? nullptr : &found->second.observed;
}

bool Core::IsIdle() const {
  return std::all_of(attempts_.begin(), attempts_.end(), [](const auto& item) {
    return item.second.observed.phase() == ObservedAttempt::EXITED;
  });
}

int Core::NumRunning() const {
  return static_cast<int>(
      std::count_if(attempts_.begin(), attempts_.end(), [](const auto& item) {
        return item.second.started &&
               item.second.observed.phase() != ObservedAttempt::EXITED;
      }));
}

}  // namespace ordo::worker::agent
