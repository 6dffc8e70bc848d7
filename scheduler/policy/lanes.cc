#include "scheduler/policy/lanes.h"

#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

std::tuple<int, int, int> KeyOf(const Lane& lane) {
  return {lane.queue, lane.shape, lane.owner};
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

}  // namespace

int LaneFor(int queue, absl::string_view owner, const Shape& shape,
            Tables* tables) {
  Lane lane;
  lane.queue = queue;
  lane.shape = AcquireShape(shape, tables);
  lane.owner = tables->owners.Acquire(std::string(owner));
  const auto [it, inserted] = tables->lane_ids.try_emplace(KeyOf(lane), -1);
  if (!inserted) {
    // One use a lane.
    ReleaseShape(lane.shape, tables);
    tables->owners.Release(lane.owner, std::string(owner));
    return it->second;
  }
  if (tables->owner_names.size() <= static_cast<size_t>(lane.owner)) {
    tables->owner_names.resize(lane.owner + 1);
  }
  tables->owner_names[lane.owner] = std::string(owner);
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
  ReleaseShape(lane.shape, tables);
  tables->owners.Release(lane.owner, tables->owner_names[lane.owner]);
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
  const double half_lives = absl::FDivDuration(now - kind.used_at, half_life);
  const double left = std::exp2(-half_lives);
  return kind.used * left + kind.held * absl::ToDoubleSeconds(half_life) /
                                std::log(2.0) * (1 - left);
}

void Hold(const Lane& lane, int devices, const Since& since, Tables* tables) {
  QueueKind& kind = KindOf(lane, tables);
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
  ++lane.num_reserved;
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
  --lane.num_reserved;
  KeepDevices(lane, -tables->shapes[lane.shape].shape.num_devices(), tables);
  for (const auto& [worker, ranks] : entry.workers) {
    tables->workers[worker].reserved_for = 0;
    RefreshRoom(worker, tables);
  }
}

}  // namespace ordo::scheduler::policy
