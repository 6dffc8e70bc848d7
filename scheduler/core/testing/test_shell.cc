#include "scheduler/core/testing/test_shell.h"

#include <type_traits>
#include <utility>

#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/present.h"
#include "scheduler/policy/fair.h"

namespace ordo::scheduler::core::testing {
namespace {

using google::protobuf::util::MessageDifferencer;

std::string Describe(const Effect& effect) {
  if (const auto* desired = std::get_if<SetDesired>(&effect)) {
    return "SetDesired " + desired->request->ShortDebugString();
  }
  if (const auto* answer = std::get_if<Answer>(&effect)) {
    return "Answer " + answer->jobs.status().ToString();
  }
  if (const auto* removed = std::get_if<RemoveCheckpoint>(&effect)) {
    return "RemoveCheckpoint " + removed->job + "/" + removed->checkpoint;
  }
  return "effect " + std::to_string(effect.index());
}

// Messages are shared and never changed, so most are the very same.
template <typename T>
bool IsSame(const T& a, const T& b) {
  return a == b || MessageDifferencer::Equals(*a, *b);
}

void ExpectSame(const JobRecord& a, const JobRecord& b) {
  const jobs::v1::Job job = *Present(a);
  EXPECT_TRUE(MessageDifferencer::Equals(job, *Present(b)))
      << job.ShortDebugString() << "\nis not\n"
      << Present(b)->ShortDebugString();
  EXPECT_EQ(a.facts->request.id(), b.facts->request.id());
  EXPECT_EQ(a.facts->request.fingerprint(), b.facts->request.fingerprint());
  EXPECT_EQ(a.incarnation.value(), b.incarnation.value()) << a.id();
  EXPECT_EQ(a.acknowledged_records, b.acknowledged_records);
}

// A record as a store gives it back.
JobPtr Stored(const JobRecord& record) {
  StoredJob stored;
  EXPECT_TRUE(stored.job.ParseFromString(Present(record)->SerializeAsString()));
  stored.request_id = std::string(record.facts->request.id());
  stored.fingerprint = record.facts->request.fingerprint();
  stored.incarnation = record.incarnation.value();
  stored.acknowledged_records = record.acknowledged_records;
  SpecTable specs;
  return RecordOf(std::move(stored), &specs);
}

}  // namespace

Options TestShell::DefaultOptions() {
  Options options;
  options.place = &policy::PlaceFair;
  options.lease = absl::Seconds(10);
  // Tests of the heartbeat set their own.
  options.heartbeat = absl::Hours(24);
  return options;
}

TestShell::TestShell(const Options& options) : state_(options) {}

TestShell::~TestShell() {
  for (const Effect& effect : pending_) {
    ADD_FAILURE() << "not consumed at the end: " << Describe(effect);
  }
}

void TestShell::ApplyEvent(const Event& event) {
  for (const Effect& effect : pending_) {
    ADD_FAILURE() << "not consumed: " << Describe(effect);
  }
  pending_.clear();
  presented_.clear();
  for (const Effect& effect : Apply(state_, event, now_)) Keep(effect);
  const absl::Status status = CheckInvariants(state_);
  EXPECT_TRUE(status.ok()) << status;
  CheckRecords();
}

void TestShell::ApplyBehind(const Event& event) {
  const Effects kept = std::exchange(pending_, {});
  ApplyEvent(event);
  pending_.insert(pending_.begin(), kept.begin(), kept.end());
}

void TestShell::Keep(const Effect& effect) {
  if (const auto* record = std::get_if<Record>(&effect)) {
    if (const auto* job = std::get_if<JobPtr>(&record->value)) {
      JobPtr& stored = jobs_[(*job)->facts->sequence];
      if (stored != nullptr) {
        EXPECT_GT((*job)->version, stored->version);
      }
      stored = Stored(**job);
      ExpectSame(**job, *stored);
      recorded_[(*job)->facts->sequence] = *job;
    } else if (const auto* checkpoint =
                   std::get_if<CheckpointPtr>(&record->value)) {
      checkpoints_[(*checkpoint)->name()] = *checkpoint;
    } else if (const auto* report = std::get_if<ReportPtr>(&record->value)) {
      reports_[(*report)->name()] = *report;
    } else {
      const auto& row = std::get<RowPtr>(record->value);
      rows_[{row->kind, row->key}] = row;
      if (!row->bytes.has_value()) rows_.erase({row->kind, row->key});
    }
  } else if (const auto* count = std::get_if<Count>(&effect)) {
    counts_[{count->what, count->label}] += count->amount;
  } else if (const auto* note = std::get_if<NoteChange>(&effect)) {
    changes_.push_back(absl::StrCat(note->name, ": ", note->change.action()));
  } else if (const auto* worker = std::get_if<PublishWorker>(&effect)) {
    workers_[worker->worker] = worker->value;
  } else if (const auto* progress = std::get_if<PublishProgress>(&effect)) {
    progress_[progress->job] = progress->value;
  } else {
    pending_.push_back(effect);
  }
}

void TestShell::CheckRecords() {
  const Records durable = DurablePart(state_);
  ASSERT_EQ(durable.jobs.size(), jobs_.size());
  for (const JobPtr& record : durable.jobs) {
    const JobPtr& recorded = recorded_.at(record->facts->sequence);
    if (record != recorded) ExpectSame(*record, *recorded);
  }
  ASSERT_EQ(durable.checkpoints.size(), checkpoints_.size());
  for (const CheckpointPtr& checkpoint : durable.checkpoints) {
    EXPECT_TRUE(IsSame(checkpoint, checkpoints_.at(checkpoint->name())));
  }
  ASSERT_EQ(durable.reports.size(), reports_.size());
  for (const ReportPtr& report : durable.reports) {
    EXPECT_TRUE(IsSame(report, reports_.at(report->name())));
  }
  ASSERT_EQ(durable.rows.size(), rows_.size());
  for (const RowPtr& row : durable.rows) {
    EXPECT_EQ(row->bytes, rows_.at({row->kind, row->key})->bytes) << row->key;
  }
}

void TestShell::MoveToPast(const std::string& job) {
  PastJob& past = past_[job];
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if (it->second->id() != job) continue;
    past.job = it->second;
    recorded_.erase(it->first);
    jobs_.erase(it);
    break;
  }
  const auto take = [&job](auto* records, auto* taken) {
    const std::string folder = JobName(job) + "/";
    auto it = records->lower_bound(folder);
    while (it != records->end() && it->first.rfind(folder, 0) == 0) {
      taken->push_back(it->second);
      it = records->erase(it);
    }
  };
  take(&checkpoints_, &past.checkpoints);
  take(&reports_, &past.reports);
}

void TestShell::Forget(const std::vector<std::string>& jobs) {
  for (const Effect& effect : Apply(state_, core::Forget{jobs}, now_)) {
    ADD_FAILURE() << "not expected: " << Describe(effect);
  }
  for (const std::string& job : jobs) {
    if (state_.jobs.count(job) == 0) MoveToPast(job);
  }
  const absl::Status status = CheckInvariants(state_);
  EXPECT_TRUE(status.ok()) << status;
  CheckRecords();
}

void TestShell::Recall(const std::vector<std::string>& jobs) {
  core::Recall recall;
  for (const std::string& job : jobs) {
    const auto it = past_.find(job);
    ASSERT_NE(it, past_.end()) << job;
    const PastJob& past = it->second;
    jobs_[past.job->facts->sequence] = past.job;
    recorded_[past.job->facts->sequence] = past.job;
    for (const auto& each : past.checkpoints) checkpoints_[each->name()] = each;
    for (const auto& each : past.reports) reports_[each->name()] = each;
    recall.jobs.push_back(past);
    past_.erase(it);
  }
  ApplyEvent(std::move(recall));
}

absl::StatusOr<std::vector<jobs::v1::Job>> TestShell::TakeAnswer(
    uint64_t call) {
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    const auto* answer = std::get_if<Answer>(&*it);
    if (answer == nullptr || answer->call != call) continue;
    const auto records = answer->jobs;
    pending_.erase(it);
    if (!records.ok()) return records.status();
    std::vector<jobs::v1::Job> jobs;
    for (const JobPtr& record : *records) jobs.push_back(*Present(*record));
    return jobs;
  }
  ADD_FAILURE() << "call " << call << " was not answered";
  return absl::InternalError("not answered");
}

absl::StatusOr<std::vector<jobs::v1::Job>> TestShell::Submit(
    const std::vector<NewJob>& jobs, const std::vector<RetiredJob>& retired) {
  const uint64_t call = next_call_++;
  ApplyEvent(core::Submit{call, jobs, retired});
  return TakeAnswer(call);
}

absl::StatusOr<jobs::v1::Job> TestShell::Submit(const NewJob& job) {
  auto jobs = Submit(std::vector<NewJob>{job});
  if (!jobs.ok()) return jobs.status();
  return jobs->front();
}

absl::StatusOr<jobs::v1::Job> TestShell::CancelJob(const std::string& job,
                                                   const std::string& user) {
  const uint64_t call = next_call_++;
  ApplyEvent(Cancel{call, job, user});
  return TakeJob(call);
}

absl::StatusOr<jobs::v1::Job> TestShell::HoldJob(const std::string& job,
                                                 const std::string& user) {
  const uint64_t call = next_call_++;
  ApplyEvent(Hold{call, job, user});
  return TakeJob(call);
}

absl::StatusOr<jobs::v1::Job> TestShell::ReleaseJob(const std::string& job) {
  const uint64_t call = next_call_++;
  ApplyEvent(Release{call, job, "ada"});
  return TakeJob(call);
}

absl::StatusOr<jobs::v1::Job> TestShell::ChangePriority(const std::string& job,
                                                        int priority) {
  const uint64_t call = next_call_++;
  ApplyEvent(SetPriority{call, job, "ada", priority});
  return TakeJob(call);
}

template <typename Answered, typename Pointer>
auto TestShell::TakeChanged(uint64_t call,
                            absl::StatusOr<Pointer> Answered::*changed)
    -> absl::StatusOr<std::remove_const_t<typename Pointer::element_type>> {
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    const auto* answer = std::get_if<Answered>(&*it);
    if (answer == nullptr || answer->call != call) continue;
    const absl::StatusOr<Pointer> taken = answer->*changed;
    pending_.erase(it);
    if (!taken.ok()) return taken.status();
    return **taken;
  }
  ADD_FAILURE() << "call " << call << " was not answered";
  return absl::InternalError("not answered");
}

absl::StatusOr<queues::v1::Queue> TestShell::Change(ChangeQueue change) {
  change.call = next_call_++;
  ApplyEvent(change);
  return TakeChanged(change.call, &AnswerQueue::queue);
}

absl::StatusOr<workers::v1::Worker> TestShell::Change(ChangeWorker change) {
  change.call = next_call_++;
  ApplyEvent(change);
  return TakeChanged(change.call, &AnswerWorker::worker);
}

absl::StatusOr<checkpoints::v1::Alias> TestShell::Change(ChangeAlias change) {
  change.call = next_call_++;
  ApplyEvent(change);
  return TakeChanged(change.call, &AnswerAlias::alias);
}

absl::StatusOr<checkpoints::v1::Checkpoint> TestShell::Change(
    ChangeCheckpoint change) {
  change.call = next_call_++;
  ApplyEvent(change);
  return TakeChanged(change.call, &AnswerCheckpoint::checkpoint);
}

absl::StatusOr<jobs::v1::Job> TestShell::TakeJob(uint64_t call) {
  auto jobs = TakeAnswer(call);
  if (!jobs.ok()) return jobs.status();
  return jobs->front();
}

void TestShell::Number(agent::v1::AnnounceRequest* request) {
  if (request->observed().sequence() != 0) return;
  request->mutable_observed()->set_sequence(
      ++observed_sequences_[request->incarnation()]);
}

absl::Status TestShell::AnnounceOnly(agent::v1::AnnounceRequest request) {
  Number(&request);
  ApplyEvent(Announced{std::move(request)});
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    const auto* answer = std::get_if<AnswerAnnounce>(&*it);
    if (answer == nullptr) continue;
    const absl::Status status = answer->status;
    pending_.erase(it);
    return status;
  }
  ADD_FAILURE() << "the announcement was not answered";
  return absl::InternalError("not answered");
}

absl::Status TestShell::Announce(agent::v1::AnnounceRequest request) {
  Number(&request);
  const absl::Status status = AnnounceOnly(request);
  if (!status.ok() || state_.workers.at(request.worker()).answered) {
    return status;
  }
  ApplyBehind(core::Observed{request.worker(), request.incarnation(),
                             request.observed()});
  return absl::OkStatus();
}

void TestShell::Observe(
    const std::string& worker,
    const std::vector<agent::v1::ObservedAttempt>& attempts) {
  Observed event;
  event.worker = worker;
  event.incarnation = state_.workers.at(worker).incarnation;
  event.observed.set_sequence(++observed_sequences_[event.incarnation]);
  for (const auto& attempt : attempts) {
    *event.observed.add_attempts() = attempt;
  }
  ApplyEvent(event);
}

void TestShell::Advance(absl::Duration duration) {
  const absl::Duration end = now_.monotonic + duration;
  while (true) {
    const absl::Duration next =
        std::min(NextDeadline(state_).value_or(end), end);
    const absl::Duration step =
        std::max(next - now_.monotonic, absl::ZeroDuration());
    now_.wall += step;
    now_.monotonic += step;
    ApplyBehind(Tick{});
    if (now_.monotonic >= end) return;
  }
}

void TestShell::Restart() {
  Records records;
  for (const auto& [sequence, job] : jobs_) records.jobs.push_back(job);
  for (const auto& [name, checkpoint] : checkpoints_) {
    records.checkpoints.push_back(checkpoint);
  }
  for (const auto& [name, report] : reports_) {
    records.reports.push_back(report);
  }
  for (const auto& [key, row] : rows_) records.rows.push_back(row);
  Options options = state_.options;
  ++options.epoch;
  auto state = Load(options, records, now_);
  ASSERT_TRUE(state.ok()) << state.status();
  state_ = *std::move(state);
  pending_.clear();
  presented_.clear();
  recorded_ = jobs_;
  workers_.clear();
  for (PublishWorker& absent : AbsentWorkers(state_)) {
    workers_[absent.worker] = std::move(absent.value);
  }
  progress_.clear();
  const absl::Status status = CheckInvariants(state_);
  // Jobs that wait are placed by the next event.
  EXPECT_TRUE(status.ok()) << status;
  CheckRecords();
}

agent::v1::SetDesiredRequest TestShell::TakeDesired(const std::string& worker) {
  agent::v1::SetDesiredRequest newest;
  bool found = false;
  for (auto it = pending_.begin(); it != pending_.end();) {
    const auto* desired = std::get_if<SetDesired>(&*it);
    if (desired == nullptr || desired->request->worker() != worker) {
      ++it;
      continue;
    }
    newest = *desired->request;
    found = true;
    it = pending_.erase(it);
  }
  EXPECT_TRUE(found) << "no desired set for " << worker;
  return newest;
}

bool TestShell::HasDesired(const std::string& worker) const {
  for (const Effect& effect : pending_) {
    const auto* desired = std::get_if<SetDesired>(&effect);
    if (desired != nullptr && desired->request->worker() == worker) return true;
  }
  return false;
}

std::vector<std::string> TestShell::TakeRemoved() {
  std::vector<std::string> removed;
  for (auto it = pending_.begin(); it != pending_.end();) {
    const auto* effect = std::get_if<RemoveCheckpoint>(&*it);
    if (effect == nullptr) {
      ++it;
      continue;
    }
    removed.push_back(effect->job + "/" + effect->checkpoint +
                      (effect->file.empty() ? "" : "/" + effect->file));
    it = pending_.erase(it);
  }
  return removed;
}

void TestShell::Ignore() { pending_.clear(); }

const jobs::v1::Job& TestShell::job(const std::string& id) const {
  const auto [it, is_new] = presented_.try_emplace(id);
  if (is_new) it->second = *Present(*state_.jobs.at(id).job);
  return it->second;
}

jobs::v1::Job::State TestShell::StateOf(const std::string& id) const {
  return state_.jobs.at(id).job->state;
}

const std::string& TestShell::ReasonOf(const std::string& id) const {
  return state_.jobs.at(id).job->reason.value();
}

double TestShell::Counted(Count::What what, const std::string& label) const {
  const auto it = counts_.find({what, label});
  return it == counts_.end() ? 0 : it->second;
}

const workers::v1::Worker* TestShell::published_worker(
    const std::string& id) const {
  const auto it = workers_.find(id);
  return it == workers_.end() ? nullptr : it->second.get();
}

const jobs::v1::Progress* TestShell::published_progress(
    const std::string& job) const {
  const auto it = progress_.find(job);
  return it == progress_.end() ? nullptr : it->second.get();
}

}  // namespace ordo::scheduler::core::testing
