#include "scheduler/server/view.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status/status.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/present.h"
#include "scheduler/core/state.h"

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

std::string ParentTerm(const std::string& parent) {
  return absl::StrCat("parent=", parent);
}

std::vector<std::string> TermsOf(const JobFilter& filter) {
  std::vector<std::string> terms;
  if (filter.state.has_value()) terms.push_back(StateTerm(*filter.state));
  if (filter.queue.has_value()) terms.push_back(QueueTerm(*filter.queue));
  if (filter.owner.has_value()) terms.push_back(OwnerTerm(*filter.owner));
  for (const auto& [key, value] : filter.labels) {
    terms.push_back(LabelTerm(key, value));
  }
  if (filter.parent.has_value()) terms.push_back(ParentTerm(*filter.parent));
  return terms;
}

bool Matches(const core::JobRecord& job, const JobFilter& filter) {
  if (filter.state.has_value() && job.state != *filter.state) return false;
  const core::SpecHandle& spec = *job.facts->spec;
  if (filter.queue.has_value() && spec.queue() != *filter.queue) {
    return false;
  }
  if (filter.owner.has_value() && job.facts->user != *filter.owner) {
    return false;
  }
  if (filter.parent.has_value() &&
      job.facts->parent.value() != *filter.parent) {
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

// What keeps a device from a job; what weighs more comes first.
const char* StateOf(const workers::v1::Worker& worker,
                    const workers::v1::Device& device) {
  if (worker.state() == workers::v1::Worker::LOST) return "lost";
  if (device.has_quarantine()) return "quarantined";
  if (!device.job().empty()) return "held";
  if (!device.withheld().empty()) return "withheld";
  const bool closed = worker.state() == workers::v1::Worker::DRAINING ||
                      worker.cordoned() || worker.has_drain_time();
  return closed ? "closed" : "free";
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

}  // namespace

absl::StatusOr<Job> Present(const SeenJob& seen) {
  ORDO_ASSIGN_OR_RETURN(Job job, core::Present(*seen.record));
  if (seen.progress != nullptr) *job.mutable_progress() = *seen.progress;
  return job;
}

View::View(const core::Records& records,
           const std::map<core::JobState, int64_t>& ended)
    : ended_(ended) {
  for (const core::JobPtr& job : records.jobs) {
    // Those that others name are counted as ended already.
    if (!core::IsTerminal(job->state)) PutJob(job);
  }
  for (const core::RowPtr& row : records.rows) PutRow(row);
}

void View::CountReason(const core::JobRecord& job, int64_t change) {
  const auto count = reasons_.try_emplace(job.reason.value()).first;
  count->second += change;
  if (count->second == 0) reasons_.erase(count);
}

void View::Index(const core::JobPtr& job) {
  CountReason(*job, 1);
  const core::JobFacts& facts = *job->facts;
  const int64_t sequence = facts.sequence;
  sequences_[facts.id] = sequence;
  terms_[StateTerm(job->state)].insert(sequence);
  terms_[QueueTerm(facts.spec->queue())].insert(sequence);
  terms_[OwnerTerm(facts.user)].insert(sequence);
  for (const auto& [key, value] : facts.spec->labels()) {
    terms_[LabelTerm(key, value)].insert(sequence);
  }
  if (!facts.parent.empty()) {
    terms_[ParentTerm(facts.parent.value())].insert(sequence);
  }
  jobs_[sequence] = job;
}

void View::Remove(const core::JobRecord& job) {
  CountReason(job, -1);
  const core::JobFacts& facts = *job.facts;
  const int64_t sequence = facts.sequence;
  const auto remove = [this, sequence](const std::string& term) {
    const auto sequences = terms_.find(term);
    sequences->second.erase(sequence);
    if (sequences->second.empty()) terms_.erase(sequences);
  };
  remove(StateTerm(job.state));
  remove(QueueTerm(facts.spec->queue()));
  remove(OwnerTerm(facts.user));
  for (const auto& [key, value] : facts.spec->labels()) {
    remove(LabelTerm(key, value));
  }
  if (!facts.parent.empty()) remove(ParentTerm(facts.parent.value()));
  sequences_.erase(facts.id);
  progress_.erase(facts.id);
  jobs_.erase(sequence);
}

bool View::PutJob(core::JobPtr job) {
  const core::JobFacts& facts = *job->facts;
  const int64_t sequence = facts.sequence;
  base::MutexLock lock(mutex_);
  const auto stored = jobs_.find(sequence);
  const bool is_new = stored == jobs_.end();
  if (core::IsTerminal(job->state)) {
    // One that began and ended at once was never here.
    if (!is_new) {
      const core::JobPtr before = stored->second;
      queues_.Count(before.get(), *job);
      Remove(*before);
    }
    ++ended_[job->state];
    return true;
  }
  if (is_new) {
    queues_.Count(nullptr, *job);
    Index(job);
    return true;
  }
  const bool changed = stored->second->state != job->state;
  if (changed) {
    queues_.Count(stored->second.get(), *job);
    terms_[StateTerm(stored->second->state)].erase(sequence);
    terms_[StateTerm(job->state)].insert(sequence);
  }
  CountReason(*stored->second, -1);
  CountReason(*job, 1);
  stored->second = std::move(job);
  return changed;
}

void View::TakeRetired(const std::vector<core::PastJob>& jobs) {
  base::MutexLock lock(mutex_);
  for (const core::PastJob& past : jobs) --ended_[past.job->state];
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

void View::PutRow(const core::RowPtr& row) {
  if (row->kind == core::Row::Kind::kUsage) {
    archived_usage_.Put(row);
    return;
  }
  if (row->kind == core::Row::Kind::kAlias ||
      row->kind == core::Row::Kind::kPin) {
    base::MutexLock lock(mutex_);
    registry_.Put(*row);
    return;
  }
  if (row->kind == core::Row::Kind::kToken) {
    PutToken(*row);
    return;
  }
  if (row->kind != core::Row::Kind::kQueue) return;
  std::shared_ptr<queues::v1::Queue> queue;
  if (row->bytes.has_value()) {
    queue = std::make_shared<queues::v1::Queue>();
    // The core has written it, or read it at the start.
    ORDO_CHECK(queue->ParseFromString(*row->bytes)) << row->key;
  }
  base::MutexLock lock(mutex_);
  queues_.Put(row->key, std::move(queue));
}

void View::PutToken(const core::Row& row) {
  access::v1::Token token;
  // One that cannot be read lets nobody in.
  const bool sound = row.bytes.has_value() && token.ParseFromString(*row.bytes);
  base::MutexLock lock(mutex_);
  if (sound) {
    tokens_[row.key] = std::move(token);
  } else {
    tokens_.erase(row.key);
  }
}

std::vector<StoredToken> View::ListTokens() const {
  std::vector<StoredToken> tokens;
  base::MutexLock lock(mutex_);
  for (const auto& [sha256, token] : tokens_) tokens.push_back({sha256, token});
  return tokens;
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

SeenJob View::WithProgress(const core::JobPtr& job) const {
  const auto progress = progress_.find(job->id());
  return {job, progress == progress_.end() ? nullptr : progress->second};
}

std::optional<SeenJob> View::FindJob(const std::string& job) const {
  base::MutexLock lock(mutex_);
  const auto sequence = sequences_.find(job);
  if (sequence == sequences_.end()) return std::nullopt;
  return WithProgress(jobs_.at(sequence->second));
}

SeenJobs View::ListJobs(const JobFilter& filter, int64_t before,
                        int limit) const {
  base::MutexLock lock(mutex_);
  SeenJobs seen;
  const absl::btree_set<int64_t>* smallest = nullptr;
  for (const std::string& term : TermsOf(filter)) {
    const auto sequences = terms_.find(term);
    if (sequences == terms_.end()) return seen;
    if (smallest == nullptr || sequences->second.size() < smallest->size()) {
      smallest = &sequences->second;
    }
  }
  int num_looks = 0;
  int64_t oldest = before;
  const auto take = [&](int64_t sequence) {
    if (num_looks == kMaxLooks) {
      seen.next = oldest;
      return false;
    }
    ++num_looks;
    oldest = sequence;
    const core::JobPtr& job = jobs_.at(sequence);
    if (!Matches(*job, filter)) return true;
    if (static_cast<int>(seen.items.size()) == limit) return false;
    seen.items.push_back(WithProgress(job));
    return true;
  };
  if (smallest != nullptr) {
    WalkBack(
        *smallest, before, [](int64_t s) { return s; }, take);
  } else {
    WalkBack(
        jobs_, before, [](const auto& row) { return row.first; }, take);
  }
  return seen;
}

std::vector<std::string> View::Needed(const core::JobRecord& job) const {
  std::vector<std::string> needed;
  for (const core::NeededJob& need : job.facts->needs) {
    if (sequences_.count(need.id) > 0) needed.push_back(need.id);
  }
  return needed;
}

absl::StatusOr<std::optional<jobs::v1::ExplainResponse>> View::Explain(
    const std::string& job, absl::Time now,
    const std::optional<core::Placing>& placing) const {
  SeenJob seen;
  std::vector<workers::v1::Worker> workers;
  std::vector<std::string> needed;
  {
    base::MutexLock lock(mutex_);
    const auto sequence = sequences_.find(job);
    if (sequence == sequences_.end()) return std::nullopt;
    seen = WithProgress(jobs_.at(sequence->second));
    for (const auto& [name, worker] : workers_) workers.push_back(*worker);
    needed = Needed(*seen.record);
  }
  // Without the lock: the store may take its time.
  ORDO_ASSIGN_OR_RETURN(const Job presented, Present(seen));
  return core::Explain({presented, workers, now, needed, placing});
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

absl::StatusOr<checkpoints::v1::Alias> View::GetAlias(
    const std::string& alias) const {
  base::MutexLock lock(mutex_);
  return registry_.Get(alias);
}

Listing<checkpoints::v1::Alias> View::ListAliases(const Page& page) const {
  base::MutexLock lock(mutex_);
  return registry_.List(page);
}

void View::ShowNames(
    std::vector<checkpoints::v1::Checkpoint>* checkpoints) const {
  base::MutexLock lock(mutex_);
  for (auto& checkpoint : *checkpoints) registry_.ShowNames(&checkpoint);
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
    const auto ended = ended_.find(core::kJobStates[i]);
    if (ended != ended_.end()) counts[i] += ended->second;
  }
  return counts;
}

std::map<std::string, int64_t> View::CountReasons() const {
  base::MutexLock lock(mutex_);
  return {reasons_.begin(), reasons_.end()};
}

std::map<int, int64_t> View::CountWorkers() const {
  base::MutexLock lock(mutex_);
  std::map<int, int64_t> counts;
  for (const auto& [name, worker] : workers_) ++counts[worker->state()];
  return counts;
}

std::map<std::pair<std::string, std::string>, int64_t> View::CountDevices()
    const {
  base::MutexLock lock(mutex_);
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  for (const auto& [name, worker] : workers_) {
    for (const workers::v1::Device& device : worker->devices()) {
      ++counts[{device.kind(), StateOf(*worker, device)}];
    }
  }
  return counts;
}

}  // namespace ordo::scheduler::server
