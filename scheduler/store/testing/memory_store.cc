#include "scheduler/store/testing/memory_store.h"

#include <algorithm>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "google/protobuf/util/time_util.h"
#include "scheduler/core/registry.h"

namespace ordo::scheduler::store::testing {
namespace {

using google::protobuf::util::TimeUtil;

bool Matches(const core::JobRecord& job, const EndedQuery& query) {
  const core::SpecHandle& spec = *job.facts->spec;
  return job.end_ns != 0 && job.facts->sequence < query.before &&
         job.state == query.state.value_or(job.state) &&
         spec.queue() == query.queue.value_or(spec.queue()) &&
         job.facts->user == query.owner.value_or(job.facts->user) &&
         std::all_of(query.labels.begin(), query.labels.end(),
                     [&spec, &job](const auto& wanted) {
                       if (wanted.first == core::kParentLabel) {
                         return job.facts->parent.value() == wanted.second;
                       }
                       const auto label = spec.labels().find(wanted.first);
                       return label != spec.labels().end() &&
                              label->second == wanted.second;
                     });
}

// Those of a job have its name before theirs.
bool BelongsTo(const std::string& name, const std::string& job) {
  return name.rfind("jobs/" + job + "/", 0) == 0;
}

template <typename T>
absl::StatusOr<Found<std::shared_ptr<const T>>> ListArtifacts(
    const std::map<std::string, std::shared_ptr<const T>>& all,
    const ArtifactQuery& query) {
  const auto key = [](const T& artifact) {
    return std::make_pair(
        TimeUtil::TimestampToNanoseconds(artifact.create_time()),
        artifact.name());
  };
  std::vector<std::shared_ptr<const T>> found;
  const auto before = all.find(query.before);
  if (!query.before.empty() && before == all.end()) {
    return base::InvalidField("page_token", "is not one of this listing");
  }
  for (const auto& [name, artifact] : all) {
    if (!query.job.empty() && !BelongsTo(name, query.job)) continue;
    if (!query.before.empty() && key(*artifact) >= key(*before->second)) {
      continue;
    }
    found.push_back(artifact);
  }
  std::sort(found.begin(), found.end(),
            [&key](const auto& a, const auto& b) { return key(*a) > key(*b); });
  found.resize(std::min(found.size(), static_cast<size_t>(query.limit)));
  return Found<std::shared_ptr<const T>>{std::move(found)};
}

}  // namespace

absl::StatusOr<core::SpecPtr> MemorySpecs::ReadSpec(int64_t id) {
  base::MutexLock lock(mutex_);
  ++num_reads_;
  if (!failure_.ok()) return failure_;
  if (id < 0 || id >= static_cast<int64_t>(specs_.size())) {
    return absl::DataLossError(absl::StrCat("table specs, id ", id));
  }
  return specs_[id];
}

std::optional<int64_t> MemorySpecs::Take(const core::SpecHandle& handle) {
  if (handle.IdIn(this).has_value()) return std::nullopt;
  const auto spec = handle.Get();
  if (!spec.ok()) return std::nullopt;
  base::MutexLock lock(mutex_);
  specs_.push_back(*spec);
  return static_cast<int64_t>(specs_.size()) - 1;
}

void MemorySpecs::Fail(const absl::Status& status) {
  base::MutexLock lock(mutex_);
  failure_ = status;
}

int MemorySpecs::num_reads() const {
  base::MutexLock lock(mutex_);
  return num_reads_;
}

void Memory::Fail(const absl::Status& status) {
  base::MutexLock lock(mutex_);
  failure_ = status;
}

core::Records Memory::All() const {
  base::MutexLock lock(mutex_);
  core::Records records;
  for (const auto& [sequence, job] : held_records_.jobs) {
    records.jobs.push_back(job);
    records.last_sequence = sequence;
  }
  for (const auto& [name, checkpoint] : held_records_.checkpoints) {
    records.checkpoints.push_back(checkpoint);
  }
  for (const auto& [name, report] : held_records_.reports) {
    records.reports.push_back(report);
  }
  for (const auto& [key, row] : held_records_.rows) records.rows.push_back(row);
  return records;
}

void Memory::Hold() {
  base::MutexLock lock(mutex_);
  held_ = true;
}

void Memory::Continue() {
  base::MutexLock lock(mutex_);
  held_ = false;
  changed_.NotifyAll();
}

int Memory::num_begun() const {
  base::MutexLock lock(mutex_);
  return num_begun_;
}

void Memory::WaitUntilBegun(int count) {
  base::MutexLock lock(mutex_);
  while (num_begun_ < count) changed_.Wait(mutex_);
}

int Memory::num_committed() const {
  base::MutexLock lock(mutex_);
  return num_committed_;
}

void Memory::DieAt(int write) {
  base::MutexLock lock(mutex_);
  writes_left_ = write;
}

bool Memory::Revive() {
  base::MutexLock lock(mutex_);
  const bool was_dead = writes_left_ == 0;
  writes_left_ = -1;
  return was_dead;
}

bool Memory::SurvivesWrite() {
  if (writes_left_ > 0) --writes_left_;
  return writes_left_ != 0;
}

void Memory::Put(const core::Record& record, Held* held) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    held->jobs[(*job)->facts->sequence] = *job;
  } else if (const auto* checkpoint =
                 std::get_if<core::CheckpointPtr>(&record.value)) {
    held->checkpoints[(*checkpoint)->name()] = *checkpoint;
  } else if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    held->reports[(*report)->name()] = *report;
  } else {
    const auto& row = std::get<core::RowPtr>(record.value);
    held->rows[{row->kind, row->key}] = row;
    if (!row->bytes.has_value()) held->rows.erase({row->kind, row->key});
  }
}

absl::StatusOr<Contents> MemoryStore::Load() {
  base::MutexLock lock(memory_->mutex_);
  if (memory_->writes_left_ == 0) return absl::UnavailableError("dead");
  Contents contents;
  contents.epoch = ++memory_->epoch_;
  const Memory::Held& held = memory_->held_records_;
  std::set<std::string> wanted;
  contents.records.last_sequence = held.last_sequence;
  for (const auto& [sequence, job] : held.jobs) {
    contents.records.last_sequence =
        std::max(contents.records.last_sequence, sequence);
    if (job->end_ns != 0) continue;
    wanted.insert(job->id());
    for (const std::string& id : core::JobsNamedBy(*job->facts)) {
      wanted.insert(id);
    }
  }
  for (const auto& [key, row] : held.rows) {
    wanted.insert(core::JobNamedBy(*row));
  }
  for (const auto& [sequence, job] : held.jobs) {
    if (wanted.count(job->id()) > 0) contents.records.jobs.push_back(job);
  }
  const auto is_wanted = [&wanted](const std::string& name) {
    return wanted.count(name.substr(5, name.find('/', 5) - 5)) > 0;
  };
  for (const auto& [name, checkpoint] : held.checkpoints) {
    if (is_wanted(name)) contents.records.checkpoints.push_back(checkpoint);
  }
  for (const auto& [name, report] : held.reports) {
    if (is_wanted(name)) contents.records.reports.push_back(report);
  }
  for (const auto& [key, row] : held.rows) {
    contents.records.rows.push_back(row);
  }
  return contents;
}

absl::Status MemoryStore::Commit(const std::vector<core::Record>& records) {
  base::MutexLock lock(memory_->mutex_);
  ++memory_->num_begun_;
  memory_->changed_.NotifyAll();
  while (memory_->held_) memory_->changed_.Wait(memory_->mutex_);
  if (!memory_->failure_.ok()) return memory_->failure_;
  // A copy of all of it only where somebody may die half-way.
  const bool may_die = memory_->writes_left_ >= 0;
  Memory::Held aside;
  if (may_die) aside = memory_->held_records_;
  Memory::Held& held = may_die ? aside : memory_->held_records_;
  for (const core::Record& record : records) {
    Memory::Put(record, &held);
    if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  }
  if (may_die) memory_->held_records_ = std::move(aside);
  if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  ++memory_->num_committed_;
  for (const core::Record& record : records) {
    const auto* job = std::get_if<core::JobPtr>(&record.value);
    if (job == nullptr || (*job)->facts->spec == nullptr) continue;
    const core::SpecHandle& spec = *(*job)->facts->spec;
    if (const auto id = memory_->specs_->Take(spec)) {
      spec.NoteStored(*id, memory_->specs_);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<core::SpecPtr> MemoryStore::FindSpec(int64_t id) {
  return memory_->specs_->ReadSpec(id);
}

std::vector<core::PastJob> MemoryStore::PastOf(
    const std::function<bool(const core::JobRecord&)>& is_wanted) {
  base::MutexLock lock(memory_->mutex_);
  const Memory::Held& held = memory_->held_records_;
  std::vector<core::PastJob> found;
  for (const auto& [sequence, job] : held.jobs) {
    if (!is_wanted(*job)) continue;
    core::PastJob past{job, {}, {}};
    for (const auto& [name, checkpoint] : held.checkpoints) {
      if (BelongsTo(name, job->id())) past.checkpoints.push_back(checkpoint);
    }
    for (const auto& [name, report] : held.reports) {
      if (BelongsTo(name, job->id())) past.reports.push_back(report);
    }
    found.push_back(std::move(past));
  }
  return found;
}

absl::StatusOr<core::JobPtr> MemoryStore::FindJob(const std::string& job) {
  const auto found =
      PastOf([&job](const core::JobRecord& each) { return each.id() == job; });
  return found.empty() ? nullptr : found[0].job;
}

absl::StatusOr<PastJobs> MemoryStore::FindPast(
    const std::vector<std::string>& jobs,
    const std::vector<std::string>& request_ids) {
  const auto is_asked = [&](const std::string& job,
                            const std::string& request_id) {
    const auto is_in = [](const std::string& value,
                          const std::vector<std::string>& all) {
      return !value.empty() &&
             std::find(all.begin(), all.end(), value) != all.end();
    };
    return is_in(job, jobs) || is_in(request_id, request_ids);
  };
  PastJobs found;
  found.jobs = PastOf([&is_asked](const core::JobRecord& job) {
    return job.end_ns != 0 &&
           is_asked(job.id(), std::string(job.facts->request.id()));
  });
  base::MutexLock lock(memory_->mutex_);
  for (const auto& [id, job] : memory_->held_records_.retired) {
    if (is_asked(id, job.request_id)) found.retired.push_back(job);
  }
  return found;
}

absl::StatusOr<ExpiredJobs> MemoryStore::FindExpired(
    const ExpiredQuery& query) {
  auto ended =
      PastOf([](const core::JobRecord& job) { return job.end_ns != 0; });
  const auto key = [](const core::PastJob& past) {
    return std::make_pair(past.job->end_ns, past.job->facts->sequence);
  };
  std::sort(ended.begin(), ended.end(),
            [&key](const auto& a, const auto& b) { return key(a) < key(b); });
  ExpiredJobs found;
  for (size_t i = 0; i < ended.size(); ++i) {
    const auto num_later = static_cast<int64_t>(ended.size() - i - 1);
    const bool is_expired = ended[i].job->end_ns < query.ended_before_ns ||
                            (query.keep >= 0 && num_later >= query.keep);
    if (static_cast<int>(found.jobs.size()) == query.limit) break;
    if (is_expired && key(ended[i]) > std::make_pair(query.after_end_ns,
                                                     query.after_sequence)) {
      found.jobs.push_back(ended[i]);
      found.last = JobEnd{ended[i].job->end_ns, ended[i].job->facts->sequence};
    }
  }
  return found;
}

absl::Status MemoryStore::Retire(const std::vector<std::string>& jobs,
                                 const std::vector<core::RowPtr>& rows) {
  base::MutexLock lock(memory_->mutex_);
  if (!memory_->failure_.ok()) return memory_->failure_;
  if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  Memory::Held& held = memory_->held_records_;
  for (const core::RowPtr& row : rows) Memory::Put({row}, &held);
  for (auto it = held.jobs.begin(); it != held.jobs.end();) {
    const core::JobRecord& job = *it->second;
    if (job.end_ns == 0 ||
        std::find(jobs.begin(), jobs.end(), job.id()) == jobs.end()) {
      ++it;
      continue;
    }
    const auto remove = [&job](auto* artifacts) {
      for (auto each = artifacts->begin(); each != artifacts->end();) {
        each = BelongsTo(each->first, job.id()) ? artifacts->erase(each)
                                                : std::next(each);
      }
    };
    remove(&held.checkpoints);
    remove(&held.reports);
    held.retired[job.id()] = {job.id(), std::string(job.facts->request.id()),
                              job.state};
    held.last_sequence = std::max(held.last_sequence, it->first);
    it = held.jobs.erase(it);
  }
  // It is stored, and nobody hears of it.
  if (!memory_->SurvivesWrite()) return absl::UnavailableError("dead");
  return absl::OkStatus();
}

absl::StatusOr<Found<core::JobPtr>> MemoryStore::ListEnded(
    const EndedQuery& query) {
  auto found = PastOf(
      [&query](const core::JobRecord& job) { return Matches(job, query); });
  Found<core::JobPtr> jobs;
  for (auto past = found.rbegin(); past != found.rend(); ++past) {
    if (static_cast<int>(jobs.items.size()) == query.limit) break;
    jobs.items.push_back(past->job);
  }
  return jobs;
}

absl::StatusOr<std::map<core::JobState, int64_t>> MemoryStore::CountEnded() {
  std::map<core::JobState, int64_t> counts;
  for (const core::PastJob& past :
       PastOf([](const core::JobRecord& job) { return job.end_ns != 0; })) {
    ++counts[past.job->state];
  }
  return counts;
}

absl::StatusOr<std::vector<std::string>> MemoryStore::DeletedCheckpoints(
    const std::string& after, int limit) {
  base::MutexLock lock(memory_->mutex_);
  std::vector<std::string> names;
  const auto& all = memory_->held_records_.checkpoints;
  for (auto it = all.upper_bound(after);
       it != all.end() && static_cast<int>(names.size()) < limit; ++it) {
    if (it->second->state() == checkpoints::v1::Checkpoint::DELETED) {
      names.push_back(it->first);
    }
  }
  return names;
}

absl::StatusOr<core::CheckpointPtr> MemoryStore::FindCheckpoint(
    const std::string& name) {
  base::MutexLock lock(memory_->mutex_);
  const auto& all = memory_->held_records_.checkpoints;
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

absl::StatusOr<core::ReportPtr> MemoryStore::FindReport(
    const std::string& name) {
  base::MutexLock lock(memory_->mutex_);
  const auto& all = memory_->held_records_.reports;
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

absl::StatusOr<Found<core::CheckpointPtr>> MemoryStore::ListCheckpoints(
    const ArtifactQuery& query) {
  base::MutexLock lock(memory_->mutex_);
  return ListArtifacts(memory_->held_records_.checkpoints, query);
}

absl::StatusOr<Found<core::ReportPtr>> MemoryStore::ListReports(
    const ArtifactQuery& query) {
  base::MutexLock lock(memory_->mutex_);
  return ListArtifacts(memory_->held_records_.reports, query);
}

}  // namespace ordo::scheduler::store::testing
