#include "scheduler/server/view.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/present.h"
#include "scheduler/core/state.h"
#include "scheduler/server/usage.h"

namespace ordo::scheduler::server {
namespace {

using jobs::v1::Job;

std::string StateTerm(Job::State state) {
  return absl::StrCat("state=", static_cast<int>(state));
}
std::string QueueTerm(const std::string& queue) {
  return absl::StrCat("queue=", queue);
}
std::string OwnerTerm(const std::string& owner) {
  return absl::StrCat("owner=", owner);
}
// Keys have no '=': the first one ends them.
std::string LabelTerm(const std::string& key, const std::string& value) {
  return absl::StrCat("label=", key, "=", value);
}

std::vector<std::string> TermsOf(const JobFilter& filter) {
  std::vector<std::string> terms;
  if (filter.state.has_value()) terms.push_back(StateTerm(*filter.state));
  if (filter.queue.has_value()) terms.push_back(QueueTerm(*filter.queue));
  if (filter.owner.has_value()) terms.push_back(OwnerTerm(*filter.owner));
  for (const auto& [key, value] : filter.labels) {
    terms.push_back(LabelTerm(key, value));
  }
  return terms;
}

bool Matches(const core::JobRecord& job, const JobFilter& filter) {
  if (filter.state.has_value() && job.state != *filter.state) return false;
  const jobs::v1::JobSpec& spec = *job.facts->spec;
  if (filter.queue.has_value() && spec.queue() != *filter.queue) {
    return false;
  }
  if (filter.owner.has_value() && job.facts->user != *filter.owner) {
    return false;
  }
  for (const auto& [key, value] : filter.labels) {
    const auto label = spec.labels().find(key);
    if (label == spec.labels().end() || label->second != value) {
      return false;
    }
  }
  return true;
}

// The sequence before which a page of jobs begins.
absl::StatusOr<int64_t> BeforeSequence(const Page& page) {
  if (page.before.empty()) return std::numeric_limits<int64_t>::max();
  int64_t before = 0;
  if (!absl::SimpleAtoi(page.before, &before)) {
    return base::InvalidField("page_token", "is not one of this listing");
  }
  return before;
}

// Walks `sequences` (a set, or the keys of a map) from just before `before`
// towards older jobs, until `take` says stop.
template <typename Sequences, typename KeyOf, typename Take>
void WalkBack(const Sequences& sequences, int64_t before, KeyOf key_of,
              Take take) {
  auto it = sequences.lower_bound(before);
  while (it != sequences.begin()) {
    --it;
    if (!take(key_of(*it))) return;
  }
}

std::string JobOf(const std::string& name) {
  const size_t begin = name.find('/') + 1;
  return name.substr(begin, name.find('/', begin) - begin);
}

}  // namespace

View::View(const core::Records& records) {
  for (const core::JobPtr& job : records.jobs) PutJob(job);
  for (const auto& checkpoint : records.checkpoints) PutCheckpoint(checkpoint);
  for (const auto& report : records.reports) PutReport(report);
  for (const core::RowPtr& row : records.rows) PutRow(*row);
}

bool View::PutJob(core::JobPtr job) {
  const core::JobFacts& facts = *job->facts;
  const int64_t sequence = facts.sequence;
  base::MutexLock lock(mutex_);
  core::JobPtr& stored = jobs_[sequence];
  if (stored == nullptr) {
    sequences_[facts.id] = sequence;
    terms_[StateTerm(job->state)].insert(sequence);
    terms_[QueueTerm(facts.spec->queue())].insert(sequence);
    terms_[OwnerTerm(facts.user)].insert(sequence);
    for (const auto& [key, value] : facts.spec->labels()) {
      terms_[LabelTerm(key, value)].insert(sequence);
    }
  } else if (stored->state != job->state) {
    terms_[StateTerm(stored->state)].erase(sequence);
    terms_[StateTerm(job->state)].insert(sequence);
  }
  if (job->state == Job::QUEUED) {
    queued_[facts.need.kind].insert(sequence);
  } else {
    queued_[facts.need.kind].erase(sequence);
  }
  const bool changed = stored == nullptr || stored->state != job->state;
  if (changed) queues_.Count(stored.get(), *job);
  stored = std::move(job);
  return changed;
}

template <typename T>
void View::Put(std::shared_ptr<const T> value, Artifacts<T>* artifacts) {
  const std::string& name = value->name();
  const typename Artifacts<T>::Key key(
      absl::ToUnixNanos(core::ToTime(value->create_time())), name);
  artifacts->by_name[name] = key;
  artifacts->by_job[JobOf(name)].insert(key);
  artifacts->all[key] = std::move(value);
}

void View::PutCheckpoint(core::CheckpointPtr checkpoint) {
  base::MutexLock lock(mutex_);
  Put(std::move(checkpoint), &checkpoints_);
}

void View::PutReport(core::ReportPtr report) {
  base::MutexLock lock(mutex_);
  Put(std::move(report), &reports_);
}

void View::PutWorker(const std::string& worker,
                     std::shared_ptr<const workers::v1::Worker> value) {
  base::MutexLock lock(mutex_);
  if (value == nullptr) {
    workers_.erase(worker);
  } else {
    workers_[worker] = std::move(value);
  }
}

void View::PutRow(const core::Row& row) {
  if (row.kind != core::Row::Kind::kQueue || !row.bytes.has_value()) return;
  auto queue = std::make_shared<queues::v1::Queue>();
  // The core has written it, or read it at the start.
  ORDO_CHECK(queue->ParseFromString(*row.bytes)) << row.key;
  base::MutexLock lock(mutex_);
  queues_.Put(std::move(queue));
}

void View::PutProgress(const std::string& job,
                       std::shared_ptr<const jobs::v1::Progress> value) {
  base::MutexLock lock(mutex_);
  if (value == nullptr) {
    progress_.erase(job);
  } else {
    progress_[job] = std::move(value);
  }
}

absl::Status View::CheckJob(const std::string& job) const {
  if (sequences_.count(job) > 0) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no job ", job, "; see: ordo list jobs"));
}

Job View::WithProgress(const core::JobRecord& job) const {
  Job presented = core::Present(job);
  const auto progress = progress_.find(job.id());
  if (progress != progress_.end()) {
    *presented.mutable_progress() = *progress->second;
  }
  return presented;
}

absl::StatusOr<Job> View::GetJob(const std::string& job) const {
  base::MutexLock lock(mutex_);
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  return WithProgress(*jobs_.at(sequences_.at(job)));
}

absl::StatusOr<Listing<Job>> View::ListJobs(const JobFilter& filter,
                                            const Page& page) const {
  ORDO_ASSIGN_OR_RETURN(const int64_t before, BeforeSequence(page));
  base::MutexLock lock(mutex_);
  Listing<Job> listing;
  const std::set<int64_t>* smallest = nullptr;
  for (const std::string& term : TermsOf(filter)) {
    const auto sequences = terms_.find(term);
    if (sequences == terms_.end()) return listing;
    if (smallest == nullptr || sequences->second.size() < smallest->size()) {
      smallest = &sequences->second;
    }
  }
  const auto take = [&](int64_t sequence) {
    const core::JobRecord& job = *jobs_.at(sequence);
    if (!Matches(job, filter)) return true;
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = absl::StrCat(listing.items.back().sequence());
      return false;
    }
    listing.items.push_back(WithProgress(job));
    return true;
  };
  if (smallest != nullptr) {
    WalkBack(
        *smallest, before, [](int64_t s) { return s; }, take);
  } else {
    WalkBack(
        jobs_, before, [](const auto& row) { return row.first; }, take);
  }
  return listing;
}

int View::JobsAhead(const core::JobRecord& job) const {
  if (job.state != Job::QUEUED) return 0;
  const auto queued = queued_.find(job.facts->need.kind);
  if (queued == queued_.end()) return 0;
  return static_cast<int>(std::distance(
      queued->second.begin(), queued->second.lower_bound(job.facts->sequence)));
}

std::vector<std::string> View::Needed(const core::JobRecord& job) const {
  std::vector<std::string> needed;
  for (const core::NeededJob& need : job.facts->needs) {
    const auto sequence = sequences_.find(need.id);
    if (sequence != sequences_.end() &&
        !core::IsTerminal(jobs_.at(sequence->second)->state)) {
      needed.push_back(need.id);
    }
  }
  return needed;
}

absl::StatusOr<jobs::v1::ExplainResponse> View::Explain(const std::string& job,
                                                        absl::Time now) const {
  base::MutexLock lock(mutex_);
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  const core::JobRecord& record = *jobs_.at(sequences_.at(job));
  const Job seen = WithProgress(record);
  std::vector<workers::v1::Worker> workers;
  for (const auto& [name, worker] : workers_) workers.push_back(*worker);
  return core::Explain({seen, JobsAhead(record), workers, now, Needed(record)});
}

absl::StatusOr<checkpoints::v1::Checkpoint> View::GetCheckpoint(
    const std::string& job, const std::string& checkpoint) const {
  base::MutexLock lock(mutex_);
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  if (checkpoint != "latest") {
    const auto key =
        checkpoints_.by_name.find(core::CheckpointName(job, checkpoint));
    if (key == checkpoints_.by_name.end()) {
      return absl::NotFoundError(absl::StrCat("job ", job,
                                              " has no checkpoint ", checkpoint,
                                              "; see: ordo list checkpoints"));
    }
    return *checkpoints_.all.at(key->second);
  }
  core::CheckpointPtr newest;
  if (const auto keys = checkpoints_.by_job.find(job);
      keys != checkpoints_.by_job.end()) {
    for (const auto& key : keys->second) {
      const core::CheckpointPtr& each = checkpoints_.all.at(key);
      if (each->state() != checkpoints::v1::Checkpoint::AVAILABLE) continue;
      if (newest == nullptr ||
          std::make_pair(each->attempt(), each->step()) >
              std::make_pair(newest->attempt(), newest->step())) {
        newest = each;
      }
    }
  }
  if (newest != nullptr) return *newest;
  return absl::NotFoundError(
      absl::StrCat("job ", job, " has no checkpoint yet"));
}

template <typename T>
absl::StatusOr<Listing<T>> View::List(const Artifacts<T>& artifacts,
                                      const std::string& job,
                                      const Page& page) {
  using Key = typename Artifacts<T>::Key;
  Key before(std::numeric_limits<int64_t>::max(), "");
  if (!page.before.empty()) {
    const auto found = artifacts.by_name.find(page.before);
    if (found == artifacts.by_name.end()) {
      return base::InvalidField("page_token", "is not one of this listing");
    }
    before = found->second;
  }
  Listing<T> listing;
  const auto take = [&](const Key& key) {
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = listing.items.back().name();
      return false;
    }
    listing.items.push_back(*artifacts.all.at(key));
    return true;
  };
  const auto walk = [&](const auto& keys, auto key_of) {
    auto it = keys.lower_bound(before);
    while (it != keys.begin()) {
      --it;
      if (!take(key_of(*it))) return;
    }
  };
  if (job.empty()) {
    walk(artifacts.all, [](const auto& row) { return row.first; });
  } else if (const auto keys = artifacts.by_job.find(job);
             keys != artifacts.by_job.end()) {
    walk(keys->second, [](const Key& key) { return key; });
  }
  return listing;
}

absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> View::ListCheckpoints(
    const std::string& job, const Page& page) const {
  base::MutexLock lock(mutex_);
  if (!job.empty()) ORDO_RETURN_IF_ERROR(CheckJob(job));
  return List(checkpoints_, job, page);
}

absl::StatusOr<reports::v1::Report> View::GetReport(
    const std::string& job, const std::string& report) const {
  base::MutexLock lock(mutex_);
  ORDO_RETURN_IF_ERROR(CheckJob(job));
  const auto key = reports_.by_name.find(core::ReportName(job, report));
  if (key == reports_.by_name.end()) {
    return absl::NotFoundError(absl::StrCat(
        "job ", job, " has no report ", report, "; see: ordo list reports"));
  }
  return *reports_.all.at(key->second);
}

absl::StatusOr<Listing<reports::v1::Report>> View::ListReports(
    const std::string& job, const Page& page) const {
  base::MutexLock lock(mutex_);
  if (!job.empty()) ORDO_RETURN_IF_ERROR(CheckJob(job));
  return List(reports_, job, page);
}

absl::StatusOr<queues::v1::Queue> View::GetQueue(
    const std::string& queue) const {
  base::MutexLock lock(mutex_);
  return queues_.Get(queue);
}

Listing<queues::v1::Queue> View::ListQueues(const Page& page) const {
  base::MutexLock lock(mutex_);
  return queues_.List(page);
}

usage::v1::ReportUsageResponse View::Usage(usage::v1::ReportUsageRequest::By by,
                                           absl::Time since,
                                           absl::Time now) const {
  UsageSum sum(by, since, now);
  // Piece by piece, so that others get the lock in between.
  constexpr int kAtATime = 1000;
  int64_t next = 0;
  while (true) {
    base::MutexLock lock(mutex_);
    auto job = jobs_.lower_bound(next);
    for (int i = 0; i < kAtATime && job != jobs_.end(); ++i, ++job) {
      sum.Add(*job->second);
    }
    if (job == jobs_.end()) return sum.Report();
    next = job->first;
  }
}

absl::StatusOr<workers::v1::Worker> View::GetWorker(
    const std::string& worker) const {
  base::MutexLock lock(mutex_);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no worker ", worker,
                                            "; see: ordo list workers"));
  }
  return *found->second;
}

absl::StatusOr<Listing<workers::v1::Worker>> View::ListWorkers(
    const Page& page) const {
  base::MutexLock lock(mutex_);
  Listing<workers::v1::Worker> listing;
  auto it = page.before.empty() ? workers_.begin()
                                : workers_.upper_bound(core::IdOf(page.before));
  for (; it != workers_.end(); ++it) {
    if (static_cast<int>(listing.items.size()) == page.size) {
      listing.next = listing.items.back().name();
      break;
    }
    listing.items.push_back(*it->second);
  }
  return listing;
}

std::array<int64_t, std::size(core::kJobStates)> View::CountJobs() const {
  base::MutexLock lock(mutex_);
  std::array<int64_t, std::size(core::kJobStates)> counts{};
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto jobs = terms_.find(StateTerm(core::kJobStates[i]));
    if (jobs != terms_.end()) {
      counts[i] = static_cast<int64_t>(jobs->second.size());
    }
  }
  return counts;
}

std::map<int, int64_t> View::CountWorkers() const {
  base::MutexLock lock(mutex_);
  std::map<int, int64_t> counts;
  for (const auto& [name, worker] : workers_) ++counts[worker->state()];
  return counts;
}

}  // namespace ordo::scheduler::server
