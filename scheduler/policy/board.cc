#include "scheduler/policy/board.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "scheduler/policy/classes.h"
#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

// Of attempts that ended, how much the newest counts.
constexpr double kNewest = 0.1;

int QueueId(const Tables& tables, absl::string_view name) {
  const auto it = tables.queue_ids.find(name);
  ORDO_CHECK(it != tables.queue_ids.end()) << "queue " << std::string(name);
  return it->second;
}

const QueueKind* FindQueueKind(const Tables& tables, absl::string_view queue,
                               absl::string_view kind) {
  const QueueEntry& entry = tables.queues[QueueId(tables, queue)];
  const auto it = entry.kinds.find(FindKind(tables, kind));
  return it == entry.kinds.end() ? nullptr : &it->second;
}

int64_t KeyFor(int64_t since_ns, int priority, const BoardOptions& options) {
  return absl::ToInt64Nanoseconds(absl::Nanoseconds(since_ns) -
                                  priority * options.aging);
}

DeviceEntry& DeviceNamed(const std::string& name, WorkerEntry* worker) {
  const auto it = std::find_if(
      worker->devices.begin(), worker->devices.end(),
      [&](const DeviceEntry& device) { return device.facts.name == name; });
  ORDO_CHECK(it != worker->devices.end()) << worker->facts.id << " " << name;
  return *it;
}

// The rank leaves its worker.
void RemoveOccupant(const RunPart& part, int64_t job, Tables* tables) {
  WorkerEntry& worker = tables->workers[part.worker];
  for (DeviceEntry& device : worker.devices) {
    if (device.job == job && device.rank == part.rank) device.job = 0;
  }
  auto& occupants = worker.occupants;
  occupants.erase(std::find_if(
      occupants.begin(), occupants.end(), [&](const Occupant& occupant) {
        return occupant.job == job && occupant.rank == part.rank;
      }));
  RefreshRoom(part.worker, tables);
}

}  // namespace

Board::Board(const BoardOptions& options) : options_(options) {}

void Board::PutQueue(const Queue& queue) {
  const auto [it, inserted] = tables_.queue_ids.try_emplace(queue.name, -1);
  if (inserted) {
    if (tables_.free_queues.empty()) {
      tables_.free_queues.push_back(static_cast<int>(tables_.queues.size()));
      tables_.queues.emplace_back();
    }
    it->second = tables_.free_queues.back();
    tables_.free_queues.pop_back();
    tables_.queues[it->second].name = queue.name;
  }
  QueueEntry& entry = tables_.queues[it->second];
  entry.weight = queue.weight;
  entry.max_per_owner = queue.max_per_owner;
  for (auto& [kind, use] : entry.kinds) use.quota = Quota();
  for (const auto& [kind, quota] : queue.quotas) {
    entry.kinds[KindId(kind, &tables_)].quota = quota;
  }
  for (const Reservation& reservation : Reservations()) {
    const int lane = tables_.waiting.at(reservation.job).lane;
    if (tables_.lanes[lane].queue == it->second) Unreserve(reservation.job);
  }
}

void Board::RemoveQueue(absl::string_view name) {
  ORDO_CHECK(!IsInUse(name)) << "queue " << std::string(name);
  const auto it = tables_.queue_ids.find(name);
  tables_.queues[it->second] = QueueEntry();
  tables_.free_queues.push_back(it->second);
  tables_.queue_ids.erase(it);
}

bool Board::HasQueue(absl::string_view name) const {
  return tables_.queue_ids.find(name) != tables_.queue_ids.end();
}

bool Board::IsInUse(absl::string_view queue) const {
  return NumWaiting(queue) > 0 || NumRunning(queue) > 0;
}

OrderKey Board::KeyOf(const WaitingJob& job) const {
  return {KeyFor(absl::ToUnixNanos(job.since), job.priority, options_),
          job.sequence};
}

void Board::Wait(const WaitingJob& job) {
  ORDO_CHECK(!IsRunning(job.sequence)) << "job " << job.sequence;
  using Limits = std::numeric_limits<int16_t>;
  ORDO_CHECK(job.priority >= Limits::min() && job.priority <= Limits::max())
      << "priority " << job.priority;
  WaitEntry entry;
  entry.k = KeyOf(job).k;
  entry.priority = static_cast<int16_t>(job.priority);
  entry.lane = LaneFor(QueueId(tables_, job.queue), job, &tables_);
  AddToLane(job.sequence, entry, &tables_);
  if (!job.avoided.empty()) tables_.avoided[job.sequence] = job.avoided;
}

void Board::StopWaiting(int64_t sequence) {
  const auto it = tables_.waiting.find(sequence);
  if (it == tables_.waiting.end()) return;
  const int lane = it->second.lane;
  DropReservation(sequence, &tables_);
  TakeFromLane(sequence, &tables_);
  tables_.avoided.erase(sequence);
  TidyLane(lane, &tables_);
}

bool Board::IsWaiting(int64_t sequence) const {
  return tables_.waiting.count(sequence) > 0;
}

void Board::SetPriority(int64_t sequence, int priority) {
  using Limits = std::numeric_limits<int16_t>;
  ORDO_CHECK(priority >= Limits::min() && priority <= Limits::max())
      << "priority " << priority;
  const auto it = tables_.waiting.find(sequence);
  ORDO_CHECK(it != tables_.waiting.end()) << "job " << sequence;
  WaitEntry entry = it->second;
  entry.k = KeyFor(entry.k, priority - entry.priority, options_);
  entry.priority = static_cast<int16_t>(priority);
  TakeFromLane(sequence, &tables_);
  AddToLane(sequence, entry, &tables_);
}

void Board::Start(int64_t sequence, const Run& run) {
  DropReservation(sequence, &tables_);
  const auto it = tables_.waiting.find(sequence);
  ORDO_CHECK(it != tables_.waiting.end()) << "job " << sequence;
  RunEntry entry;
  entry.lane = it->second.lane;
  entry.priority = it->second.priority;
  entry.started = run.started;
  entry.checkpointed = run.checkpointed;
  TakeFromLane(sequence, &tables_);
  tables_.avoided.erase(sequence);
  Lane& lane = tables_.lanes[entry.lane];
  const Ask ask = AskOf(tables_, lane.shape);
  for (const Part& part : run.parts) {
    const int id = tables_.worker_ids.at(part.worker);
    WorkerEntry& worker = tables_.workers[id];
    for (const std::string& name : part.devices) {
      DeviceEntry& device = DeviceNamed(name, &worker);
      ORDO_CHECK(device.job == 0) << part.worker << " " << name;
      device.job = sequence;
      device.rank = part.rank;
    }
    Occupant occupant = OccupantOf(ask, {});
    occupant.job = sequence;
    occupant.rank = part.rank;
    occupant.devices = DevicesOf(worker, occupant);
    occupant.ends_by = LatestEnd(ask.shape, run.started, options_.grace);
    worker.occupants.push_back(std::move(occupant));
    entry.parts.push_back({id, part.rank});
    RefreshRoom(id, &tables_);
  }
  Hold(lane, static_cast<int>(run.parts.size()) * ask.shape.devices,
       {run.started, options_.half_life}, &tables_);
  CountRunning(1, &lane, &tables_);
  tables_.running.emplace(sequence, std::move(entry));
  KindOf(lane, &tables_).attempts.insert(AttemptKeyOf(tables_, sequence));
}

bool Board::IsRunning(int64_t sequence) const {
  return tables_.running.count(sequence) > 0;
}

void Board::NoteCheckpoint(int64_t sequence, absl::Duration at) {
  RunEntry& run = tables_.running.at(sequence);
  auto& attempts = KindOf(tables_.lanes[run.lane], &tables_).attempts;
  attempts.erase(AttemptKeyOf(tables_, sequence));
  run.checkpointed = at;
  if (!run.stopping) attempts.insert(AttemptKeyOf(tables_, sequence));
}

void Board::NoteExpectedEnd(int64_t sequence, absl::Duration at) {
  RunEntry& run = tables_.running.at(sequence);
  if (!run.stopping) run.expected_end = at;
}

void Board::NoteStopping(int64_t sequence, absl::Duration ends_by) {
  RunEntry& run = tables_.running.at(sequence);
  const Lane& lane = tables_.lanes[run.lane];
  QueueKind& kind = KindOf(lane, &tables_);
  if (!run.stopping) {
    run.stopping = true;
    kind.attempts.erase(AttemptKeyOf(tables_, sequence));
    kind.stopping += static_cast<int>(run.parts.size()) *
                     tables_.shapes[lane.shape].shape.devices;
  }
  run.expected_end = std::min(run.expected_end, ends_by);
  for (const RunPart& part : run.parts) {
    for (Occupant& occupant : tables_.workers[part.worker].occupants) {
      if (occupant.job != sequence) continue;
      occupant.ends_by = std::min(occupant.ends_by, ends_by);
    }
    RefreshRoom(part.worker, &tables_);
  }
}

void Board::EndPart(int64_t sequence, int rank, absl::Duration at) {
  RunEntry& run = tables_.running.at(sequence);
  const auto part =
      std::find_if(run.parts.begin(), run.parts.end(),
                   [&](const RunPart& other) { return other.rank == rank; });
  if (part == run.parts.end()) return;
  const Lane& lane = tables_.lanes[run.lane];
  const int devices = tables_.shapes[lane.shape].shape.devices;
  RemoveOccupant(*part, sequence, &tables_);
  run.parts.erase(part);
  Hold(lane, -devices, {at, options_.half_life}, &tables_);
  if (run.stopping) KindOf(lane, &tables_).stopping -= devices;
}

void Board::End(int64_t sequence, absl::Duration at) {
  const auto it = tables_.running.find(sequence);
  ORDO_CHECK(it != tables_.running.end()) << "job " << sequence;
  while (!it->second.parts.empty()) {
    EndPart(sequence, it->second.parts.back().rank, at);
  }
  const RunEntry& run = it->second;
  const int id = run.lane;
  Lane& lane = tables_.lanes[id];
  QueueKind& kind = KindOf(lane, &tables_);
  kind.attempts.erase(AttemptKeyOf(tables_, sequence));
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(at - run.started));
  kind.mean_run_s =
      kind.mean_run_s == 0
          ? seconds
          : kind.mean_run_s + kNewest * (seconds - kind.mean_run_s);
  CountRunning(-1, &lane, &tables_);
  tables_.running.erase(it);
  TidyLane(id, &tables_);
}

void Board::Reserve(const Reservation& reservation) {
  AddReservation(reservation, &tables_);
}

void Board::Unreserve(int64_t sequence) { DropReservation(sequence, &tables_); }

std::vector<Reservation> Board::Reservations() const {
  std::vector<Reservation> all;
  for (const auto& [job, entry] : tables_.reservations) {
    Reservation& reservation = all.emplace_back();
    reservation.job = job;
    reservation.at = entry.at;
    for (const auto& [worker, ranks] : entry.workers) {
      reservation.workers.push_back({tables_.workers[worker].facts.id, ranks});
    }
  }
  return all;
}

void Board::NoteAskAgain(absl::Duration at) {
  if (at < absl::InfiniteDuration()) tables_.preempt_at = at;
}

double Board::Usage(absl::string_view queue, absl::string_view kind,
                    absl::Duration now) const {
  const QueueKind* entry = FindQueueKind(tables_, queue, kind);
  return entry == nullptr ? 0 : UsedAt(*entry, now, options_.half_life);
}

void Board::SetUsage(absl::string_view queue, absl::string_view kind,
                     double device_seconds, absl::Duration at) {
  QueueEntry& entry = tables_.queues[QueueId(tables_, queue)];
  QueueKind& use = entry.kinds[KindId(std::string(kind), &tables_)];
  use.used = device_seconds;
  use.used_at = at;
}

std::vector<std::string> Board::Kinds(absl::string_view queue) const {
  std::vector<std::string> names;
  for (const auto& [kind, use] :
       tables_.queues[QueueId(tables_, queue)].kinds) {
    names.push_back(tables_.kinds[kind].name);
  }
  return names;
}

int64_t Board::NumWaiting(absl::string_view queue) const {
  return tables_.queues[QueueId(tables_, queue)].num_waiting;
}

int64_t Board::NumRunning(absl::string_view queue) const {
  return tables_.queues[QueueId(tables_, queue)].num_running;
}

int Board::NumHeld(absl::string_view queue, absl::string_view kind) const {
  const QueueKind* entry = FindQueueKind(tables_, queue, kind);
  return entry == nullptr ? 0 : entry->held;
}

}  // namespace ordo::scheduler::policy
