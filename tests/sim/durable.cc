#include "tests/sim/durable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/device_admin.h"
#include "scheduler/core/present.h"

namespace ordo::tests::sim {
namespace {

namespace core = scheduler::core;
namespace policy = scheduler::policy;
using google::protobuf::util::MessageDifferencer;

// Messages are shared and never changed, so most are the very same.
template <typename T>
bool IsSame(const T& a, const T& b) {
  return a == b || MessageDifferencer::Equals(*a, *b);
}

// Records are shared and never changed, so most are the very same.
bool IsSameJob(const core::JobPtr& a, const core::JobPtr& b) {
  return a == b ||
         (MessageDifferencer::Equals(*core::Present(*a), *core::Present(*b)) &&
          a->facts->request.id() == b->facts->request.id() &&
          a->facts->request.fingerprint() == b->facts->request.fingerprint() &&
          a->incarnation.value() == b->incarnation.value() &&
          a->acknowledged_records == b->acknowledged_records);
}

std::vector<std::string> CheckpointsIn(
    const core::Records& records, checkpoints::v1::Checkpoint::State wanted) {
  std::vector<std::string> names;
  for (const core::CheckpointPtr& checkpoint : records.checkpoints) {
    if (checkpoint->state() == wanted) names.push_back(checkpoint->name());
  }
  return names;
}

// The checkpoint that an alias or a pin names; empty: the row is no such thing.
std::string NamedIn(const core::Row& row) {
  if (!row.bytes.has_value()) return "";
  if (row.kind == core::Row::Kind::kPin) return row.key;
  checkpoints::v1::Alias alias;
  const bool is_alias =
      row.kind == core::Row::Kind::kAlias && alias.ParseFromString(*row.bytes);
  return is_alias && !alias.has_delete_time() ? alias.checkpoint() : "";
}

// The job of jobs/{job}/checkpoints/{checkpoint} and the like.
std::string JobOf(const std::string& name) {
  const size_t begin = name.find('/') + 1;
  return name.substr(begin, name.find('/', begin) - begin);
}

// How many of these records belong to jobs that the state holds.
template <typename T>
size_t NumHeld(const core::State& state, const std::map<std::string, T>& all) {
  return static_cast<size_t>(
      std::count_if(all.begin(), all.end(), [&state](const auto& record) {
        return state.jobs.count(JobOf(record.first)) > 0;
      }));
}

// What a trainer has said of how it begins, as far as it is kept; warnings are
// looked at apart.
training::v1::TrainerStarted BeginningOf(const jobs::v1::Attempt& attempt) {
  training::v1::TrainerStarted began;
  began.set_build_digest(attempt.build_digest());
  began.set_start_step(attempt.start_step());
  began.set_resumed_from(attempt.resumed_from());
  began.set_exact(attempt.exact());
  began.set_state_digest(attempt.start_digest());
  if (attempt.has_control()) *began.mutable_control() = attempt.control();
  return began;
}

// By what the worker says now.
bool LacksKernel(const core::State& state, const core::JobRecord& job,
                 const std::string& worker, const std::string& device) {
  const auto& announced = state.workers.at(worker).announced;
  const auto found = announced.find(device);
  if (found == announced.end()) return false;
  const auto lacking = core::LackingKernels(found->second);
  const auto kernels = core::ShapeOf(*job.facts->spec).kernels;
  return std::any_of(kernels.begin(), kernels.end(),
                     [&lacking](const std::string& kernel) {
                       return lacking.count(kernel) > 0;
                     });
}

}  // namespace

JobView ViewOf(const core::JobRecord& job) {
  JobView view;
  view.id = job.id();
  view.sequence = job.facts->sequence;
  view.version = job.version;
  view.state = job.state;
  view.reason = job.reason.value();
  view.attempt = job.attempt_number();
  view.failed_attempts = job.failed_attempts;
  view.interruptions = job.interruptions;
  view.held = !job.held_by.empty();
  view.backs_off = job.not_before_ns != 0;
  view.priority = job.priority;
  view.facts = job.facts;
  if (!job.attempts.empty()) {
    const jobs::v1::Attempt& newest = job.newest_attempt();
    if (!newest.has_end_time()) view.stopped_for = newest.reason();
    if (newest.has_end_time() && !newest.end_digest().empty()) {
      view.began = BeginningOf(newest);
    }
    std::set<std::string> warnings;
    for (const std::string& warning : newest.warnings()) {
      if (!warnings.insert(warning).second) view.has_repeated_warning = true;
    }
  }
  return view;
}

std::vector<JobView> JobsOf(const core::State& state) {
  std::vector<JobView> jobs;
  for (const auto& [id, entry] : state.jobs) {
    jobs.push_back(ViewOf(*entry.job));
  }
  return jobs;
}

bool IsLive(const core::State& state, const worker::agent::AttemptKey& key) {
  const auto entry = state.jobs.find(key.job);
  if (entry == state.jobs.end()) return false;
  const auto* live = core::LiveIn(entry->second);
  return live != nullptr &&
         entry->second.job->attempt_number() == key.attempt &&
         key.rank < static_cast<int>(live->ranks.size()) &&
         !live->ranks[key.rank].over;
}

std::vector<LiveAttempt> LiveAttempts(const core::State& state) {
  std::vector<LiveAttempt> attempts;
  for (const auto& [id, entry] : state.jobs) {
    const auto* live = core::LiveIn(entry);
    if (live == nullptr) continue;
    for (size_t i = 0; i < live->ranks.size(); ++i) {
      const core::LiveRank& rank = live->ranks[i];
      if (rank.over) continue;
      LiveAttempt attempt;
      attempt.key = {id, entry.job->attempt_number(), static_cast<int32_t>(i)};
      attempt.worker = rank.worker;
      attempt.devices = rank.devices;
      const absl::Duration limit =
          entry.job->facts->demand().shape.run_time_limit;
      if (limit > absl::ZeroDuration()) {
        attempt.ends_by = live->started + limit + state.options.stop_grace;
      }
      attempt.queue = core::QueueOf(*entry.job->facts->spec);
      attempt.owner = entry.job->facts->user;
      attempt.stopping = entry.job->state == jobs::v1::Job::CANCELLING ||
                         !ViewOf(*entry.job).stopped_for.empty();
      for (const std::string& device : rank.devices) {
        attempt.lacks_kernel |=
            LacksKernel(state, *entry.job, rank.worker, device);
      }
      attempts.push_back(std::move(attempt));
    }
  }
  return attempts;
}

std::optional<policy::Queue> QueueIn(const core::Row& row) {
  queues::v1::Queue told;
  if (row.kind != core::Row::Kind::kQueue || !row.bytes.has_value() ||
      !told.ParseFromString(*row.bytes) || told.has_delete_time()) {
    return std::nullopt;
  }
  policy::Queue queue;
  queue.name = row.key;
  queue.weight = told.weight();
  for (const queues::v1::Quota& quota : told.quotas()) {
    queue.quotas[quota.device()].guaranteed = quota.guaranteed();
    if (quota.has_limit()) queue.quotas[quota.device()].limit = quota.limit();
  }
  if (told.has_max_devices_per_owner()) {
    queue.max_per_owner = told.max_devices_per_owner();
  }
  return queue;
}

std::optional<std::set<std::string>> QuarantineIn(const core::Row& row) {
  auto told = std::make_shared<workers::v1::Worker>();
  if (row.kind != core::Row::Kind::kWorker || !row.bytes.has_value() ||
      !told->ParseFromString(*row.bytes)) {
    return std::nullopt;
  }
  return core::QuarantinedIn(told);
}

int LimitOf(const policy::Queue& queue) {
  const auto quota = queue.quotas.find("cpu");
  return quota == queue.quotas.end()
             ? std::numeric_limits<int>::max()
             : quota->second.limit.value_or(std::numeric_limits<int>::max());
}

int GuaranteedOf(const policy::Queue& queue) {
  const auto quota = queue.quotas.find("cpu");
  return quota == queue.quotas.end() ? 0 : quota->second.guaranteed;
}

std::vector<std::string> AvailableCheckpoints(const core::Records& records) {
  return CheckpointsIn(records, checkpoints::v1::Checkpoint::AVAILABLE);
}

std::vector<std::string> DeletedCheckpoints(const core::Records& records) {
  return CheckpointsIn(records, checkpoints::v1::Checkpoint::DELETED);
}

std::vector<std::string> ThinnedCheckpoints(const core::Records& records) {
  std::vector<std::string> names;
  for (const core::CheckpointPtr& checkpoint : records.checkpoints) {
    if (checkpoint->state() == checkpoints::v1::Checkpoint::AVAILABLE &&
        checkpoint->has_thin_time()) {
      names.push_back(checkpoint->name());
    }
  }
  return names;
}

std::vector<std::string> AliasesIn(const core::Records& records) {
  std::vector<std::string> ids;
  for (const core::RowPtr& row : records.rows) {
    if (!NamedIn(*row).empty() && row->kind == core::Row::Kind::kAlias) {
      ids.push_back(row->key);
    }
  }
  return ids;
}

std::vector<std::string> PinsIn(const core::Records& records) {
  std::vector<std::string> names;
  for (const core::RowPtr& row : records.rows) {
    if (row->kind == core::Row::Kind::kPin) names.push_back(row->key);
  }
  return names;
}

absl::Status Durable::CheckNamed() const {
  for (const auto& [key, row] : rows_) {
    const std::string name = NamedIn(*row);
    if (name.empty()) continue;
    const auto found = checkpoints_.find(name);
    if (found == checkpoints_.end() ||
        found->second->state() != checkpoints::v1::Checkpoint::AVAILABLE) {
      return absl::InternalError(
          absl::StrCat(row->key, " names ", name, ", which is not there"));
    }
  }
  return absl::OkStatus();
}

void Durable::PutJob(const core::JobPtr& job) {
  const JobView view = ViewOf(*job);
  jobs_[view.sequence] = job;
  views_[view.id] = view;
}

void Durable::Reset(const core::Records& records) {
  *this = Durable();
  for (const auto& job : records.jobs) PutJob(job);
  for (const auto& checkpoint : records.checkpoints) {
    checkpoints_[checkpoint->name()] = checkpoint;
  }
  for (const auto& report : records.reports) reports_[report->name()] = report;
  for (const auto& row : records.rows) rows_[{row->kind, row->key}] = row;
}

void Durable::Put(const core::Record& record) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    PutJob(*job);
  } else if (const auto* checkpoint =
                 std::get_if<core::CheckpointPtr>(&record.value)) {
    checkpoints_[(*checkpoint)->name()] = *checkpoint;
  } else if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    reports_[(*report)->name()] = *report;
  } else {
    const auto& row = std::get<core::RowPtr>(record.value);
    rows_[{row->kind, row->key}] = row;
    if (!row->bytes.has_value()) rows_.erase({row->kind, row->key});
  }
}

absl::Status Durable::CheckEquals(const core::State& state) const {
  const core::Records durable = core::DurablePart(state);
  const auto differ = [](const std::string& name) {
    return absl::InternalError(
        absl::StrCat("what left the core of ", name, " is not what it has"));
  };
  for (const auto& [sequence, job] : jobs_) {
    if (state.jobs.count(job->id()) == 0 && !core::IsTerminal(job->state)) {
      return differ(job->id());
    }
  }
  for (const core::JobPtr& job : durable.jobs) {
    const auto stored = jobs_.find(job->facts->sequence);
    if (stored == jobs_.end() || !IsSameJob(job, stored->second)) {
      return differ(job->id());
    }
  }
  if (durable.checkpoints.size() != NumHeld(state, checkpoints_)) {
    return differ("checkpoints");
  }
  for (const core::CheckpointPtr& checkpoint : durable.checkpoints) {
    const auto stored = checkpoints_.find(checkpoint->name());
    if (stored == checkpoints_.end() || !IsSame(checkpoint, stored->second)) {
      return differ(checkpoint->name());
    }
  }
  if (durable.reports.size() != NumHeld(state, reports_)) {
    return differ("reports");
  }
  for (const core::ReportPtr& report : durable.reports) {
    const auto stored = reports_.find(report->name());
    if (stored == reports_.end() || !IsSame(report, stored->second)) {
      return differ(report->name());
    }
  }
  if (durable.rows.size() != rows_.size()) return differ("rows");
  for (const core::RowPtr& row : durable.rows) {
    const auto stored = rows_.find({row->kind, row->key});
    if (stored == rows_.end() || row->bytes != stored->second->bytes) {
      return differ(row->key);
    }
  }
  return absl::OkStatus();
}

bool Durable::HasCheckpointOf(const std::string& job) const {
  const auto first = checkpoints_.lower_bound(core::CheckpointName(job, ""));
  return first != checkpoints_.end() && JobOf(first->first) == job;
}

bool Durable::HasScoredCheckpointOf(const std::string& job) const {
  for (auto it = reports_.lower_bound(core::ReportName(job, ""));
       it != reports_.end() && JobOf(it->first) == job; ++it) {
    const auto checkpoint = checkpoints_.find(it->second->checkpoint());
    if (checkpoint == checkpoints_.end() ||
        checkpoint->second->state() != checkpoints::v1::Checkpoint::AVAILABLE) {
      continue;
    }
    for (const auto& [metric, score] : it->second->metrics()) {
      if (std::isfinite(score)) return true;
    }
  }
  return false;
}

std::map<int64_t, double> Durable::ScoresOf(const std::string& job,
                                            const core::Criterion& by) const {
  std::map<int64_t, double> scores;
  for (auto it = reports_.lower_bound(core::ReportName(job, ""));
       it != reports_.end() && JobOf(it->first) == job; ++it) {
    const reports::v1::Report& report = *it->second;
    const auto score = report.metrics().find(by.metric);
    const std::string id = absl::StrCat(by.evaluation, "-", report.step());
    if (score != report.metrics().end() &&
        report.name() == core::ReportName(job, id)) {
      scores[report.step()] = score->second;
    }
  }
  return scores;
}

const JobView* Durable::Find(const std::string& job) const {
  const auto found = views_.find(job);
  return found == views_.end() ? nullptr : &found->second;
}

}  // namespace ordo::tests::sim
