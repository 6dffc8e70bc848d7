#include "scheduler/core/load.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/status.h"
#include "scheduler/core/admin.h"
#include "scheduler/core/board.h"
#include "scheduler/core/invariants.h"
#include "scheduler/core/queue_use.h"
#include "scheduler/core/ranks.h"
#include "scheduler/core/references.h"
#include "scheduler/core/registry.h"
#include "scheduler/core/results.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

// Each job has a larger number than those before it; none comes here.
constexpr int64_t kSequenceEnd = std::numeric_limits<int64_t>::max();

absl::Status Damaged(const std::string& what, const std::string& why) {
  return absl::DataLossError(
      absl::StrCat("the store's record of ", what, " ", why));
}

void PlaceQueued(State& state, const Moment& now, JobEntry* entry) {
  const JobRecord& job = *entry->job;
  QueueTimes times;
  times.now = now.monotonic;
  // The first release did not tell.
  times.since = job.queue_ns == 0 ? now.monotonic
                                  : state.clock.MonotonicAt(
                                        absl::FromUnixNanos(job.queue_ns), now);
  times.waited = absl::Nanoseconds(job.waited_ns);
  if (job.not_before_ns != 0) {
    // No longer than the longest backoff, however the wall clock was set.
    times.backoff =
        std::clamp(absl::FromUnixNanos(job.not_before_ns) - now.wall,
                   absl::ZeroDuration(), state.options.retry_backoff_max);
  }
  PlaceInQueue(state, *entry, job, times);
}

// The newest checkpoint that the live attempt itself wrote; null: none.
CheckpointPtr WrittenBy(const JobEntry& entry,
                        const jobs::v1::Attempt& attempt) {
  CheckpointPtr newest = NewestCheckpoint(entry);
  if (newest == nullptr || newest->attempt() != attempt.number()) return {};
  return newest;
}

// How long devices were held from a moment on, in seconds times devices.
double HeldSince(const Live& live, absl::Duration since) {
  double held = 0;
  for (const LiveRank& rank : live.ranks) {
    held += static_cast<double>(rank.devices.size()) *
            std::max(0.0, absl::ToDoubleSeconds(rank.counted - since));
  }
  return held;
}

// What an attempt has used and reached as far as the records tell; use is
// seconds times devices. One that ended while there was no scheduler is taken
// to have run on: its worker will tell.
void RestoreUse(const State& state, const Moment& now, const JobEntry& entry,
                Live* live) {
  const jobs::v1::Attempt& attempt = entry.job->newest_attempt();
  int num_devices = 0;
  for (size_t i = 0; i < live->ranks.size(); ++i) {
    LiveRank& rank = live->ranks[i];
    num_devices += static_cast<int>(rank.devices.size());
    rank.seen = live->started;
    rank.counted =
        rank.over
            ? state.clock.MonotonicAt(
                  ToTime(attempt.ranks(static_cast<int>(i)).end_time()), now)
            : now.monotonic;
  }
  live->device_seconds = HeldSince(*live, live->started);
  live->idle_device_seconds = live->device_seconds;
  if (attempt.has_run_time()) {
    const absl::Duration idle =
        ToTime(attempt.run_time()) - ToTime(attempt.start_time());
    live->idle_device_seconds = std::clamp(
        num_devices * absl::ToDoubleSeconds(idle), 0.0, live->device_seconds);
  }
  live->step = live->durable_step = attempt.start_step();
  live->durable = live->started;
  if (const CheckpointPtr newest = WrittenBy(entry, attempt)) {
    live->step = live->durable_step = newest->step();
    live->durable =
        std::max(live->started,
                 state.clock.MonotonicAt(ToTime(newest->create_time()), now));
  }
  live->unsaved_device_seconds = HeldSince(*live, live->durable);
}

void PlaceLive(State& state, const Moment& now, Live live, JobEntry* entry) {
  const JobRecord& job = *entry->job;
  const jobs::v1::Attempt& attempt = job.newest_attempt();
  live.started = state.clock.MonotonicAt(ToTime(attempt.start_time()), now);
  live.use = UseOf(job, false);
  RestoreUse(state, now, *entry, &live);
  for (size_t i = 0; i < live.ranks.size(); ++i) {
    if (live.ranks[i].over) continue;
    Worker& worker = state.workers[live.ranks[i].worker];
    worker.id = live.ranks[i].worker;
    worker.live.insert({job.id(), static_cast<int32_t>(i)});
    if (worker.lease_at.has_value()) continue;
    SetDeadline(state, {Deadline::Kind::kLease, worker.id, &worker.lease_at},
                now.monotonic + state.options.lease);
  }
  const absl::Duration limit = job.facts->demand().shape.run_time_limit;
  if (limit > absl::ZeroDuration()) {
    SetDeadline(state, {Deadline::Kind::kRunLimit, job.id(), &live.limit_at},
                std::max(now.monotonic, live.started + limit));
  }
  entry->place = Box<Live>(std::move(live));
  BeginAnswers(state, *entry);
}

absl::Status PlaceLoaded(State& state, const Moment& now, JobEntry* entry) {
  const JobRecord& job = *entry->job;
  const std::string& id = job.id();
  if (IsTerminal(job.state)) {
    entry->place = Ended{};
    return absl::OkStatus();
  }
  if (job.priority > kMaxPriority || job.priority < -kMaxPriority) {
    return Damaged(JobName(id), "has a priority that none may have");
  }
  const std::string& queue = QueueOf(*job.facts->spec);
  if (state.queues.count(queue) > 0 && !state.board.HasQueue(queue)) {
    return Damaged(JobName(id), "is in a queue that was deleted before");
  }
  if (!state.board.HasQueue(queue)) {
    policy::Queue unknown;
    unknown.name = queue;
    state.board.PutQueue(unknown);
  }
  AddPins(state, *job.facts);
  CountUnfinished(state, *job.facts, 1);
  if (job.state == jobs::v1::Job::QUEUED) {
    PlaceQueued(state, now, entry);
    return absl::OkStatus();
  }
  if (job.attempts.empty()) {
    return Damaged(JobName(id), "is live without an attempt");
  }
  const jobs::v1::Attempt& attempt = job.newest_attempt();
  Live live;
  live.ranks = RanksOf(attempt);
  const bool on_devices = std::all_of(
      live.ranks.begin(), live.ranks.end(), [&job](const LiveRank& rank) {
        return static_cast<int>(rank.devices.size()) == job.facts->num_devices;
      });
  const bool all_ranks =
      static_cast<int>(live.ranks.size()) == job.facts->num_ranks;
  if (!on_devices || !all_ranks || AllOver(live.ranks)) {
    return Damaged(JobName(id), "is live without an attempt on a device");
  }
  PlaceLive(state, now, std::move(live), entry);
  return absl::OkStatus();
}

absl::Status LoadJob(State& state, const JobPtr& job) {
  const JobFacts& facts = *job->facts;
  JobEntry& entry = state.jobs[facts.id];
  if (entry.job != nullptr) return Damaged(JobName(facts.id), "is there twice");
  if (facts.id.empty() || facts.sequence < state.next_sequence ||
      facts.sequence >= kSequenceEnd) {
    return Damaged(JobName(facts.id), "is out of order");
  }
  state.next_sequence = facts.sequence + 1;
  entry.job = job;
  entry.order_ns = NextOrder(state, facts);
  if (facts.request.empty()) return absl::OkStatus();
  const auto [known, is_new] = state.requests.insert(job->facts);
  if (is_new) return absl::OkStatus();
  return Damaged(JobName(facts.id),
                 absl::StrCat("has the request id of ", (*known)->id));
}

// The entry of the job that a resource of a job belongs to.
JobEntry* OwnerOf(State& state, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4) return nullptr;
  const auto it = state.jobs.find(parts[1]);
  return it == state.jobs.end() ? nullptr : &it->second;
}

// Live attempts, on workers that nobody has heard of yet. DATA_LOSS when two
// hold one device.
absl::Status ShowLoaded(State& state, const Moment& now) {
  for (auto& [id, worker] : state.workers) ShowWorker(state, worker);
  ShowUse(state, now);
  std::set<std::pair<std::string, std::string>> held;
  std::vector<const JobEntry*> running;
  for (const auto& [id, entry] : state.jobs) {
    const auto* live = LiveIn(entry);
    if (live == nullptr) continue;
    for (const LiveRank& rank : live->ranks) {
      for (const std::string& device : rank.devices) {
        if (rank.over || held.insert({rank.worker, device}).second) continue;
        return Damaged(JobName(id),
                       absl::StrCat("holds ", device, " of worker ",
                                    rank.worker, ", which another job holds"));
      }
    }
    running.push_back(&entry);
  }
  std::sort(
      running.begin(), running.end(), [](const JobEntry* a, const JobEntry* b) {
        return std::make_pair(LiveIn(*a)->started, a->job->facts->sequence) <
               std::make_pair(LiveIn(*b)->started, b->job->facts->sequence);
      });
  for (const JobEntry* entry : running) {
    StartWaiting(state, *entry, *entry->job);
    ShowStart(state, *entry->job, *LiveIn(*entry));
    if (AskedOf(*entry->job) == Asked::kRun) continue;
    state.board.NoteStopping(entry->job->facts->sequence,
                             now.monotonic + state.options.stop_grace);
  }
  return absl::OkStatus();
}

// A row's checksum says that it is what a scheduler wrote, not that one may go
// on with it.
absl::Status CheckLoaded(const State& state) {
  for (const auto& [id, entry] : state.jobs) {
    const absl::Status fits = CheckJob(state, entry);
    if (!fits.ok()) {
      return Damaged(JobName(id),
                     absl::StrCat("does not fit together: ", fits.message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Records DurablePart(const State& state) {
  Records records;
  records.last_sequence = state.next_sequence - 1;
  for (const auto& [id, entry] : state.jobs) {
    records.jobs.push_back(entry.job);
    for (const auto& [key, checkpoint] : entry.checkpoints) {
      records.checkpoints.push_back(checkpoint);
    }
    for (const auto& [report_id, report] : entry.reports) {
      records.reports.push_back(report);
    }
  }
  std::sort(records.jobs.begin(), records.jobs.end(),
            [](const JobPtr& a, const JobPtr& b) {
              return a->facts->sequence < b->facts->sequence;
            });
  const auto by_name = [](const auto& a, const auto& b) {
    return a->name() < b->name();
  };
  std::sort(records.checkpoints.begin(), records.checkpoints.end(), by_name);
  std::sort(records.reports.begin(), records.reports.end(), by_name);
  records.rows = AdminRows(state);
  for (RowPtr& row : UseRows(state)) records.rows.push_back(std::move(row));
  for (RowPtr& row : ResultRows(state)) records.rows.push_back(std::move(row));
  if (state.clock_row != nullptr) records.rows.push_back(state.clock_row);
  for (RowPtr& row : RegistryRows(state)) {
    records.rows.push_back(std::move(row));
  }
  return records;
}

absl::StatusOr<State> Load(const Options& options, const Records& records,
                           const Moment& now) {
  State state(options);
  for (const RowPtr& row : records.rows) {
    ORDO_RETURN_IF_ERROR(row->kind == Row::Kind::kResult
                             ? TakeResultRow(*row, &state)
                             : TakeAdminRow(*row, &state));
  }
  if (!options.boot_id.empty()) state.clock_changed = state.clock.Note(now);
  for (const JobPtr& job : records.jobs) {
    ORDO_RETURN_IF_ERROR(LoadJob(state, job));
  }
  for (const CheckpointPtr& checkpoint : records.checkpoints) {
    JobEntry* owner = OwnerOf(state, checkpoint->name());
    if (owner == nullptr) return Damaged(checkpoint->name(), "has no job");
    owner->checkpoints[{checkpoint->attempt(), checkpoint->step()}] =
        checkpoint;
  }
  ORDO_RETURN_IF_ERROR(HoldNamed(&state));
  for (const ReportPtr& report : records.reports) {
    JobEntry* owner = OwnerOf(state, report->name());
    if (owner == nullptr) return Damaged(report->name(), "has no job");
    owner->reports[IdOf(report->name())] = report;
  }
  // A job may need one that came later.
  for (const JobPtr& job : records.jobs) {
    ORDO_RETURN_IF_ERROR(PlaceLoaded(state, now, &state.jobs.at(job->id())));
  }
  state.wall_origin = now.wall - now.monotonic;
  for (auto& [id, worker] : state.workers) TakeAdmin(state, now, worker);
  if (records.last_sequence >= kSequenceEnd) {
    return Damaged("the last job's number", "leaves none for the next");
  }
  state.next_sequence =
      std::max(state.next_sequence, records.last_sequence + 1);
  ORDO_RETURN_IF_ERROR(ShowLoaded(state, now));
  ORDO_RETURN_IF_ERROR(CheckLoaded(state));
  return state;
}

std::vector<PublishWorker> AbsentWorkers(const State& state) {
  std::vector<PublishWorker> absent;
  for (const auto& [id, admin] : state.admin) {
    if (state.workers.count(id) > 0) continue;
    PublishWorker worker = PublishAbsent(state, id);
    if (worker.value != nullptr) absent.push_back(std::move(worker));
  }
  return absent;
}

}  // namespace ordo::scheduler::core
