#include "scheduler/policy/check.h"

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/policy/classes.h"
#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

template <typename... Parts>
absl::Status Broken(const Parts&... parts) {
  return absl::InternalError(absl::StrCat("board: ", parts...));
}

// What the counts of queues, owners and kinds must be.
struct Sums {
  using Key = std::pair<int, int>;

  int64_t num_waiting = 0;
  int64_t num_running = 0;
  std::map<int, int64_t> waiting_of_queue;
  std::map<int, int64_t> running_of_queue;
  std::map<int, int64_t> waiting_of_shape;
  // By queue and kind.
  std::map<Key, size_t> lanes;
  std::map<Key, std::map<int, int64_t>> priorities;
  std::map<Key, int> held;
  std::map<Key, int> stopping;
  std::map<Key, int> kept;
  // By queue and owner.
  std::map<Key, int> held_by;
  std::map<Key, int> kept_by;
  // Lanes, and parts that run or have a reservation, by parent.
  std::map<int, int> lanes_of_parent;
  std::map<int, int> running_of_parent;
  std::map<int, int> reserved_of_parent;
};

absl::Status CheckLane(const Tables& tables, int id, Sums* sums) {
  const Lane& lane = tables.lanes[id];
  const int kind = tables.shapes[lane.shape].kind;
  if (lane.jobs.empty() && lane.num_running == 0) {
    return Broken("lane ", id, " has no job");
  }
  sums->num_running += lane.num_running;
  sums->running_of_queue[lane.queue] += lane.num_running;
  if (lane.parent >= 0) {
    ++sums->lanes_of_parent[lane.parent];
    sums->running_of_parent[lane.parent] += lane.num_running;
    sums->reserved_of_parent[lane.parent] += lane.num_reserved;
  }
  if (lane.jobs.empty()) return absl::OkStatus();
  const auto& heads = tables.queues[lane.queue].kinds.at(kind).lanes;
  const auto head = heads.find({lane.jobs.first(), id});
  if (head == heads.end() || head->lane != id) {
    return Broken("lane ", id, " is not in its queue");
  }
  ++sums->lanes[{lane.queue, kind}];
  int64_t count = 0;
  for (std::optional<OrderKey> key = lane.jobs.first(); key.has_value();
       key = lane.jobs.After(*key)) {
    const auto it = tables.waiting.find(key->sequence);
    if (it == tables.waiting.end() || it->second.lane != id ||
        it->second.k != key->k) {
      return Broken("job ", key->sequence, " is in lane ", id,
                    " and does not wait there");
    }
    if (tables.running.contains(key->sequence)) {
      return Broken("job ", key->sequence, " waits and runs");
    }
    ++sums->priorities[{lane.queue, kind}][it->second.priority];
    ++count;
  }
  if (count != lane.jobs.size()) return Broken("lane ", id, " is miscounted");
  sums->num_waiting += count;
  sums->waiting_of_queue[lane.queue] += count;
  sums->waiting_of_shape[lane.shape] += count;
  return absl::OkStatus();
}

absl::Status CheckOccupants(const Tables& tables, int id, Sums* sums) {
  const WorkerEntry& worker = tables.workers[id];
  std::set<std::pair<int64_t, int>> ranks;
  for (const Occupant& occupant : worker.occupants) {
    const auto run = tables.running.find(occupant.job);
    const auto part_of = [&](const RunEntry& entry) {
      for (const RunPart& part : entry.parts) {
        if (part.worker == id && part.rank == occupant.rank) return true;
      }
      return false;
    };
    if (run == tables.running.end() || !part_of(run->second) ||
        !ranks.insert({occupant.job, occupant.rank}).second) {
      return Broken(worker.facts.id, " has a rank of job ", occupant.job,
                    " that does not run there");
    }
    if (occupant.devices != DevicesOf(worker, occupant)) {
      return Broken(worker.facts.id, " differs about devices of job ",
                    occupant.job);
    }
    const Lane& lane = tables.lanes[run->second.lane];
    const ShapeEntry& shape = tables.shapes[lane.shape];
    sums->held[{lane.queue, shape.kind}] += shape.shape.devices;
    sums->held_by[{lane.queue, lane.owner}] += shape.shape.devices;
    if (run->second.stopping) {
      sums->stopping[{lane.queue, shape.kind}] += shape.shape.devices;
    } else if (!KindOf(lane, tables)
                    .attempts.contains(AttemptKeyOf(tables, occupant.job))) {
      return Broken("job ", occupant.job,
                    " runs and is not among the attempts");
    }
  }
  for (const DeviceEntry& device : worker.devices) {
    if (device.job != 0 && ranks.count({device.job, device.rank}) == 0) {
      return Broken(worker.facts.id, " ", device.facts.name, " is held by job ",
                    device.job, ", which does not run there");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWorkers(const Tables& tables, Sums* sums) {
  std::map<int, std::pair<int64_t, int64_t>> counts;
  std::map<int, int> num_workers;
  std::map<int, absl::btree_map<absl::Duration, int>> serving;
  int num_drained = 0;
  for (size_t i = 0; i < tables.workers.size(); ++i) {
    const int id = static_cast<int>(i);
    const WorkerEntry& worker = tables.workers[i];
    if (worker.worker_class < 0) continue;
    ORDO_RETURN_IF_ERROR(CheckOccupants(tables, id, sums));
    if (!(worker.room == RoomWithReservation(tables, id))) {
      return Broken("the room of ", worker.facts.id, " is stale");
    }
    ++num_workers[worker.worker_class];
    if (worker.room.takes_work) {
      ++serving[worker.worker_class][worker.room.drain_at];
      if (worker.room.drain_at < absl::InfiniteDuration()) ++num_drained;
    }
    const RoomIndex& rooms = tables.classes[worker.worker_class].rooms;
    for (const KindRoom& kind : worker.room.kinds) {
      if (!worker.room.takes_work) continue;
      const int open = OpenDevices(worker.room, kind);
      const int free = FreeDevices(worker.room, kind);
      const auto index = rooms.find(kind.kind);
      if (index == rooms.end() || !index->second.open.contains({open, id}) ||
          index->second.held_back.contains({free, id}) != (free > open)) {
        return Broken(worker.facts.id, " is not in the index of its room");
      }
      counts[kind.kind].first += open;
      counts[kind.kind].second += HoldsBack(worker.room, kind) ? 1 : 0;
    }
  }
  for (const auto& [key, id] : tables.class_ids) {
    const WorkerClass& worker_class = tables.classes[id];
    if (worker_class.num_workers != num_workers[id] ||
        worker_class.serving != serving[id]) {
      return Broken("the workers of class ", id, " are miscounted");
    }
  }
  if (tables.num_drained != num_drained) {
    return Broken("workers that will be drained are miscounted");
  }
  for (size_t i = 0; i < tables.kinds.size(); ++i) {
    const auto& [open, held_back] = counts[static_cast<int>(i)];
    if (tables.kinds[i].num_open != open ||
        tables.kinds[i].num_held_back != held_back) {
      return Broken("room for ", tables.kinds[i].name, " is miscounted");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReservations(const Board& board, Sums* sums) {
  const Tables& tables = board.tables();
  std::map<int, int64_t> reserved;
  for (const auto& [job, entry] : tables.reservations) {
    const auto it = tables.waiting.find(job);
    if (it == tables.waiting.end()) {
      return Broken("job ", job, " has a reservation and does not wait");
    }
    const Lane& lane = tables.lanes[it->second.lane];
    const ShapeEntry& shape = tables.shapes[lane.shape];
    sums->kept[{lane.queue, shape.kind}] += shape.shape.num_devices();
    sums->kept_by[{lane.queue, lane.owner}] += shape.shape.num_devices();
    const absl::Duration ends_by =
        LatestEnd(shape.shape, entry.at, board.options().grace);
    int ranks = 0;
    for (const auto& [worker, count] : entry.workers) {
      ranks += count;
      if (tables.workers[worker].room.drain_at < ends_by) {
        return Broken(tables.workers[worker].facts.id, " is reserved for job ",
                      job, ", which may run when it is drained");
      }
      if (!reserved.emplace(worker, job).second ||
          !tables.workers[worker].room.takes_work) {
        return Broken(tables.workers[worker].facts.id, " is reserved for job ",
                      job, " although it is for another or takes no work");
      }
    }
    if (ranks != shape.shape.ranks) {
      return Broken("the reservation of job ", job, " is not whole");
    }
  }
  for (size_t i = 0; i < tables.workers.size(); ++i) {
    if (tables.workers[i].reserved_for != reserved[static_cast<int>(i)]) {
      return Broken(tables.workers[i].facts.id, " is reserved for job ",
                    tables.workers[i].reserved_for,
                    ", which has no reservation there");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAttempts(const Tables& tables, const QueueKind& use) {
  for (const AttemptKey& attempt : use.attempts) {
    const auto run = tables.running.find(attempt.job);
    if (run == tables.running.end() || run->second.stopping ||
        run->second.started != attempt.started) {
      return Broken("job ", attempt.job,
                    " is among the attempts and does not run on");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckQueue(const Tables& tables, int id, Sums* sums) {
  const QueueEntry& queue = tables.queues[id];
  if (queue.num_waiting != sums->waiting_of_queue[id] ||
      queue.num_running != sums->running_of_queue[id]) {
    return Broken("the jobs of queue ", queue.name, " are miscounted");
  }
  for (const auto& [kind, use] : queue.kinds) {
    const Sums::Key key{id, kind};
    const std::map<int, int64_t> waiting(use.priorities.begin(),
                                         use.priorities.end());
    if (use.lanes.size() != sums->lanes[key] ||
        waiting != sums->priorities[key]) {
      return Broken("the lanes of queue ", queue.name, " are miscounted");
    }
    if (use.held != sums->held[key] || use.stopping != sums->stopping[key] ||
        use.kept != sums->kept[key]) {
      return Broken("what queue ", queue.name, " holds is miscounted");
    }
    if ((tables.kinds[kind].queues.count(id) > 0) == use.lanes.empty()) {
      return Broken("whether queue ", queue.name, " waits is stale");
    }
    ORDO_RETURN_IF_ERROR(CheckAttempts(tables, use));
  }
  return absl::OkStatus();
}

absl::Status CheckOwners(const Tables& tables, const Sums& sums) {
  size_t num_owners = 0;
  for (const auto& [name, id] : tables.queue_ids) {
    num_owners += tables.queues[id].owners.size();
  }
  std::set<Sums::Key> keys;
  for (const auto* owners : {&sums.held_by, &sums.kept_by}) {
    for (const auto& [key, count] : *owners) keys.insert(key);
  }
  const auto sum = [](const std::map<Sums::Key, int>& counts, Sums::Key key) {
    const auto it = counts.find(key);
    return it == counts.end() ? 0 : it->second;
  };
  for (const Sums::Key& key : keys) {
    const auto& owners = tables.queues[key.first].owners;
    const auto it = owners.find(key.second);
    if (it == owners.end() || it->second.held != sum(sums.held_by, key) ||
        it->second.kept != sum(sums.kept_by, key)) {
      return Broken("what an owner holds in queue ",
                    tables.queues[key.first].name, " is miscounted");
    }
  }
  if (keys.size() != num_owners) return Broken("owners hold nothing");
  return absl::OkStatus();
}

absl::Status CheckParents(const Tables& tables, Sums* sums) {
  if (sums->lanes_of_parent.size() != tables.parent_ids.size()) {
    return Broken("parents have no lane");
  }
  for (const auto& [id, num_lanes] : sums->lanes_of_parent) {
    const ParentEntry& parent = tables.parents[id];
    if (tables.parent_ids.Find(parent.name) != id ||
        tables.parent_ids.uses(id) != num_lanes ||
        parent.num_running != sums->running_of_parent[id] ||
        parent.num_reserved != sums->reserved_of_parent[id]) {
      return Broken("the parts of parent ", parent.name, " are miscounted");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShapes(const Tables& tables, Sums* sums) {
  std::map<int, std::pair<int, int>> counts;
  for (const int id : tables.shapes_used) {
    const ShapeEntry& shape = tables.shapes[id];
    if (shape.num_waiting != sums->waiting_of_shape[id]) {
      return Broken("the jobs of shape ", id, " are miscounted");
    }
    if (shape.num_waiting == 0) continue;
    ++counts[shape.kind].first;
    if (shape.shape.run_time_limit > absl::ZeroDuration()) {
      ++counts[shape.kind].second;
    }
  }
  for (size_t i = 0; i < tables.kinds.size(); ++i) {
    const auto& [all, limited] = counts[static_cast<int>(i)];
    if (tables.kinds[i].num_shapes != all ||
        tables.kinds[i].num_limited_shapes != limited) {
      return Broken("shapes of ", tables.kinds[i].name, " are miscounted");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Check(const Board& board) {
  const Tables& tables = board.tables();
  Sums sums;
  for (size_t i = 0; i < tables.lanes.size(); ++i) {
    if (tables.lanes[i].queue < 0) continue;
    ORDO_RETURN_IF_ERROR(CheckLane(tables, static_cast<int>(i), &sums));
  }
  if (sums.num_waiting != static_cast<int64_t>(tables.waiting.size()) ||
      sums.num_running != static_cast<int64_t>(tables.running.size())) {
    return Broken("jobs are miscounted");
  }
  for (const auto& [job, devices] : tables.avoided) {
    if (tables.waiting.contains(job)) continue;
    return Broken("job ", job, " avoids devices and does not wait");
  }
  ORDO_RETURN_IF_ERROR(CheckWorkers(tables, &sums));
  ORDO_RETURN_IF_ERROR(CheckReservations(board, &sums));
  for (const auto& [name, id] : tables.queue_ids) {
    ORDO_RETURN_IF_ERROR(CheckQueue(tables, id, &sums));
  }
  ORDO_RETURN_IF_ERROR(CheckOwners(tables, sums));
  ORDO_RETURN_IF_ERROR(CheckParents(tables, &sums));
  return CheckShapes(tables, &sums);
}

}  // namespace ordo::scheduler::policy
