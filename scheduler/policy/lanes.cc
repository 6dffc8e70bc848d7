#include "scheduler/policy/lanes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

std::tuple<int, int, int, int> KeyOf(const Lane& lane) {
  return {lane.queue, lane.shape, lane.owner, lane.parent};
}

// The number of the job's owner or parent, of which there is one use more.
int AcquireOwner(const WaitingJob& job, Tables* tables) {
  const std::string name(job.owner);
  const int id = tables->owners.Acquire(name);
  auto& names = tables->owner_names;
  if (names.size() <= static_cast<size_t>(id)) names.resize(id + 1);
  names[id] = name;
  return id;
}
int AcquireParent(const WaitingJob& job, Tables* tables) {
  if (job.parent.empty()) return -1;
  const std::string name(job.parent);
  const int id = tables->parent_ids.Acquire(name);
  auto& parents = tables->parents;
  if (parents.size() <= static_cast<size_t>(id)) parents.resize(id + 1);
  parents[id].name = name;
  parents[id].max_parallel = job.max_parallel;
  return id;
}

// One use less of what a lane stands for.
void Release(const Lane& lane, Tables* tables) {
  ReleaseShape(lane.shape, tables);
  tables->owners.Release(lane.owner, tables->owner_names[lane.owner]);
  if (lane.parent < 0) return;
  ParentEntry& parent = tables->parents[lane.parent];
  if (tables->parent_ids.Release(lane.parent, parent.name)) {
    parent = ParentEntry();
  }
}

// Brings what a lane's queue knows of it up to date with its first job, which
// was `before`.
void MoveHead(int id, std::optional<OrderKey> before, Tables* tables) {
  const Lane& lane = tables->lanes[id];
  QueueKind& kind = KindOf(lane, tables);
  if (before.has_value()) kind.lanes.erase({*before, id});
  if (!lane.jobs.empty()) kind.lanes.insert({lane.jobs.first(), id});
}

// Brings what is known of who waits for a kind up to date, after one job of the
// lane came (1) or left (-1).
void CountWaiting(const Lane& lane, int by, Tables* tables) {
  tables->queues[lane.queue].num_waiting += by;
  ShapeEntry& shape = tables->shapes[lane.shape];
  KindEntry& kind = tables->kinds[shape.kind];
  const bool waited = shape.num_waiting > 0;
  shape.num_waiting += by;
  const int shapes = (shape.num_waiting > 0 ? 1 : 0) - (waited ? 1 : 0);
  kind.num_shapes += shapes;
  if (shape.shape.run_time_limit > absl::ZeroDuration()) {
    kind.num_limited_shapes += shapes;
  }
  if (KindOf(lane, tables).lanes.empty()) {
    kind.queues.erase(lane.queue);
  } else {
    kind.queues.insert(lane.queue);
  }
}

OwnerUse* UseOf(const Lane& lane, Tables* tables) {
  return &tables->queues[lane.queue].owners[lane.owner];
}

void TidyUse(const Lane& lane, Tables* tables) {
  auto& owners = tables->queues[lane.queue].owners;
  const auto it = owners.find(lane.owner);
  if (it->second.held == 0 && it->second.kept == 0) owners.erase(it);
}

// What is left of use after so long, of 1.
double LeftAfter(absl::Duration passed, absl::Duration half_life) {
  return std::exp2(-absl::FDivDuration(passed, half_life));
}

// The use, decayed, of devices that have been held for so long.
double UseOfHeld(int devices, absl::Duration passed, absl::Duration half_life) {
  return devices * absl::ToDoubleSeconds(half_life) / std::log(2.0) *
         (1 - LeftAfter(passed, half_life));
}

void CountReserved(int by, Lane* lane, Tables* tables) {
  lane->num_reserved += by;
  if (lane->parent >= 0) tables->parents[lane->parent].num_reserved += by;
}

}  // namespace

int LaneFor(int queue, const WaitingJob& job, Tables* tables) {
  Lane lane;
  lane.queue = queue;
  lane.shape = AcquireShape(job.shape, tables);
  lane.owner = AcquireOwner(job, tables);
  lane.parent = AcquireParent(job, tables);
  const auto [it, inserted] = tables->lane_ids.try_emplace(KeyOf(lane), -1);
  if (!inserted) {
    // One use a lane.
    Release(lane, tables);
    return it->second;
  }
  if (tables->free_lanes.empty()) {
    tables->free_lanes.push_back(static_cast<int>(tables->lanes.size()));
    tables->lanes.emplace_back();
  }
  it->second = tables->free_lanes.back();
  tables->free_lanes.pop_back();
  tables->lanes[it->second] = std::move(lane);
  return it->second;
}

void AddToLane(int64_t sequence, const WaitEntry& entry, Tables* tables) {
  Lane& lane = tables->lanes[entry.lane];
  const bool inserted = tables->waiting.emplace(sequence, entry).second;
  ORDO_CHECK(inserted) << "job " << sequence << " waits already";
  const OrderKey key{entry.k, sequence};
  if (lane.jobs.empty() || key < lane.jobs.first()) {
    const auto before = lane.jobs.empty()
                            ? std::nullopt
                            : std::optional<OrderKey>(lane.jobs.first());
    lane.jobs.Insert(key);
    MoveHead(entry.lane, before, tables);
  } else {
    lane.jobs.Insert(key);
  }
  ++KindOf(lane, tables).priorities[entry.priority];
  CountWaiting(lane, 1, tables);
}

void TakeFromLane(int64_t sequence, Tables* tables) {
  const auto it = tables->waiting.find(sequence);
  ORDO_CHECK(it != tables->waiting.end()) << "job " << sequence;
  const WaitEntry entry = it->second;
  Lane& lane = tables->lanes[entry.lane];
  const OrderKey key{entry.k, sequence};
  const bool was_first = lane.jobs.first() == key;
  lane.jobs.Erase(key);
  if (was_first) MoveHead(entry.lane, key, tables);
  auto& priorities = KindOf(lane, tables).priorities;
  const auto count = priorities.find(entry.priority);
  if (--count->second == 0) priorities.erase(count);
  CountWaiting(lane, -1, tables);
  tables->waiting.erase(it);
}

void TidyLane(int id, Tables* tables) {
  Lane& lane = tables->lanes[id];
  if (!lane.jobs.empty() || lane.num_running > 0) return;
  tables->lane_ids.erase(KeyOf(lane));
  Release(lane, tables);
  lane = Lane();
  tables->free_lanes.push_back(id);
}

QueueKind& KindOf(const Lane& lane, Tables* tables) {
  return tables->queues[lane.queue].kinds[tables->shapes[lane.shape].kind];
}

const QueueKind& KindOf(const Lane& lane, const Tables& tables) {
  return tables.queues[lane.queue].kinds.at(tables.shapes[lane.shape].kind);
}

AttemptKey AttemptKeyOf(const Tables& tables, int64_t job) {
  const RunEntry& run = tables.running.at(job);
  const Shape& shape = tables.shapes[tables.lanes[run.lane].shape].shape;
  return {run.priority, shape.num_devices(), run.checkpointed, job,
          run.started};
}

double UsedAt(const QueueKind& kind, absl::Duration now,
              absl::Duration half_life) {
  if (now <= kind.used_at) return kind.used;
  const absl::Duration passed = now - kind.used_at;
  return kind.used * LeftAfter(passed, half_life) +
         UseOfHeld(kind.held, passed, half_life);
}

void Hold(const Lane& lane, int devices, const Since& since, Tables* tables) {
  QueueKind& kind = KindOf(lane, tables);
  if (devices < 0 && since.now < kind.used_at) {
    // They were counted up to there.
    kind.used =
        std::max(0.0, kind.used - UseOfHeld(-devices, kind.used_at - since.now,
                                            since.half_life));
  }
  kind.used = UsedAt(kind, since.now, since.half_life);
  kind.used_at = std::max(kind.used_at, since.now);
  kind.held += devices;
  UseOf(lane, tables)->held += devices;
  TidyUse(lane, tables);
}

void KeepDevices(const Lane& lane, int devices, Tables* tables) {
  KindOf(lane, tables).kept += devices;
  UseOf(lane, tables)->kept += devices;
  TidyUse(lane, tables);
}

void CountRunning(int by, Lane* lane, Tables* tables) {
  lane->num_running += by;
  tables->queues[lane->queue].num_running += by;
  if (lane->parent >= 0) tables->parents[lane->parent].num_running += by;
}

void AddReservation(const Reservation& reservation, Tables* tables) {
  const auto job = tables->waiting.find(reservation.job);
  ORDO_CHECK(job != tables->waiting.end()) << "job " << reservation.job;
  DropReservation(reservation.job, tables);
  ReservationEntry entry{reservation.at, {}};
  for (const Reserved& reserved : reservation.workers) {
    const int worker = tables->worker_ids.at(reserved.worker);
    ORDO_CHECK(tables->workers[worker].reserved_for == 0) << reserved.worker;
    tables->workers[worker].reserved_for = reservation.job;
    entry.workers.emplace_back(worker, reserved.ranks);
  }
  const auto& added =
      tables->reservations.emplace(reservation.job, std::move(entry))
          .first->second;
  Lane& lane = tables->lanes[job->second.lane];
  CountReserved(1, &lane, tables);
  KeepDevices(lane, tables->shapes[lane.shape].shape.num_devices(), tables);
  for (const auto& [worker, ranks] : added.workers) {
    RefreshRoom(worker, tables);
  }
}

void DropReservation(int64_t sequence, Tables* tables) {
  const auto it = tables->reservations.find(sequence);
  if (it == tables->reservations.end()) return;
  const ReservationEntry entry = std::move(it->second);
  tables->reservations.erase(it);
  Lane& lane = tables->lanes[tables->waiting.at(sequence).lane];
  CountReserved(-1, &lane, tables);
  KeepDevices(lane, -tables->shapes[lane.shape].shape.num_devices(), tables);
  for (const auto& [worker, ranks] : entry.workers) {
    tables->workers[worker].reserved_for = 0;
    RefreshRoom(worker, tables);
  }
}

}  // namespace ordo::scheduler::policy
