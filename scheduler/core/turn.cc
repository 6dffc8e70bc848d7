#include "scheduler/core/turn.h"

#include "base/check.h"

namespace ordo::scheduler::core {

JobRecord& JobEdit::job() {
  if (job_ == nullptr) job_ = std::make_shared<JobRecord>(*entry_.job);
  return *job_;
}

jobs::v1::Attempt& JobEdit::attempt() {
  std::vector<AttemptPtr>& attempts = job().attempts;
  ORDO_CHECK(!attempts.empty()) << job_->id();
  if (attempt_ == nullptr) {
    attempt_ = std::make_shared<jobs::v1::Attempt>(*attempts.back());
    attempts.back() = attempt_;
  }
  return *attempt_;
}

jobs::v1::Attempt& JobEdit::AddAttempt() {
  attempt_ = std::make_shared<jobs::v1::Attempt>();
  job().attempts.push_back(attempt_);
  return *attempt_;
}

void JobEdit::SetIncarnation(int32_t rank, const std::string& incarnation) {
  if (read().newest_attempt().ranks().empty()) {
    job().incarnation = incarnation;
  } else {
    attempt().mutable_ranks(rank)->set_incarnation(incarnation);
  }
}

void JobEdit::SetAcknowledged(int32_t rank, int64_t number) {
  if (read().newest_attempt().ranks().empty()) {
    job().acknowledged_records = number;
  } else {
    attempt().mutable_ranks(rank)->set_acknowledged_records(number);
  }
}

void JobEdit::Commit() {
  if (job_ == nullptr) return;
  ++job_->version;
  entry_.job = std::move(job_);
  job_ = nullptr;
  attempt_ = nullptr;
  turn_.Emit(Record{entry_.job});
}

void SetDeadline(State& state, const OwnedDeadline& deadline,
                 std::optional<absl::Duration> at) {
  const auto& [kind, id, note] = deadline;
  // Most are moved, again and again: their entry stays.
  std::set<Deadline>::node_type entry;
  if (note->has_value()) {
    entry = state.deadlines.extract(Deadline{**note, kind, id});
  }
  *note = at;
  if (!at.has_value()) return;
  if (entry.empty()) {
    state.deadlines.insert({*at, kind, id});
  } else {
    entry.value().at = *at;
    state.deadlines.insert(std::move(entry));
  }
}

void CountUnfinished(State& state, const JobFacts& job, int64_t change) {
  const auto count = state.unfinished.try_emplace(QueueOf(*job.spec)).first;
  count->second += change;
  if (count->second == 0) state.unfinished.erase(count);
}

}  // namespace ordo::scheduler::core
