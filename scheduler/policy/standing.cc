#include "scheduler/policy/standing.h"

#include <algorithm>
#include <string>

#include "absl/strings/string_view.h"
#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

// Of a start that workers are drained before.
constexpr int kMaxGuesses = 4;

// What the place's queue has to do with the kind of device; null: nothing yet.
const QueueKind* UseOf(const Tables& tables, const QueuePlace& place) {
  const auto& kinds = tables.queues[place.queue].kinds;
  const auto it = kinds.find(place.ask.kind);
  return it == kinds.end() ? nullptr : &it->second;
}

// Devices of the kind on workers that take what has ended by then, of which the
// queue may have the part that is due to it.
double DevicesFor(const Tables& tables, const QueuePlace& place,
                  absl::Duration ends_by) {
  double all = 0;
  for (const auto& [key, id] : tables.class_ids) {
    for (const DeviceGroup& group : key.devices) {
      if (group.kind != place.ask.kind) continue;
      all += static_cast<double>(group.num_offered *
                                 NumTaking(tables.classes[id], ends_by));
    }
  }
  const QueueEntry& queue = tables.queues[place.queue];
  const std::set<int>& queues = tables.kinds[place.ask.kind].queues;
  // It counts although no job of it may wait yet.
  double weights = queues.count(place.queue) > 0 ? 0 : queue.weight;
  for (const int other : queues) weights += tables.queues[other].weight;
  const QueueKind* use = UseOf(tables, place);
  const Quota none;
  const Quota& quota = use == nullptr ? none : use->quota;
  double part = std::max<double>(all * queue.weight / weights,
                                 std::min<double>(quota.guaranteed, all));
  if (quota.limit.has_value()) part = std::min<double>(part, *quota.limit);
  return part;
}

// Seconds that an attempt of the shape may be expected to take; 0: nobody
// knows.
double SecondsOf(const Shape& shape, double mean_run_s) {
  if (shape.run_time_limit == absl::ZeroDuration()) return mean_run_s;
  const double limit_s = absl::ToDoubleSeconds(shape.run_time_limit);
  return mean_run_s == 0 ? limit_s : std::min(mean_run_s, limit_s);
}

bool HasLabels(const Worker& worker, const Shape& shape) {
  return std::all_of(
      shape.labels.begin(), shape.labels.end(), [&](const auto& label) {
        const auto it = worker.labels.find(label.first);
        return it != worker.labels.end() && it->second == label.second;
      });
}

// The worker's room as if nothing were on it and nothing kept.
Room EmptyRoom(const WorkerEntry& worker) {
  Room room = RoomOf(worker);
  VacateLingering(worker, &room);
  for (const Occupant& occupant : worker.occupants) {
    Vacate(worker, occupant, &room);
  }
  return room;
}

// Ranks of a shape that there is room for.
struct RanksOf {
  int64_t now = 0;
  // If the workers that take it were empty.
  int64_t when_empty = 0;
};

RanksOf CountRanks(const Tables& tables, const Ask& ask,
                   absl::Duration ends_by) {
  RanksOf ranks;
  for (const WorkerEntry& worker : tables.workers) {
    if (worker.worker_class < 0 || !HasLabels(worker.facts, ask.shape) ||
        (ask.shape.ranks > 1 &&
         worker.facts.single_rank_kinds.count(ask.shape.kind) > 0)) {
      continue;
    }
    ranks.now += RanksIn(worker, worker.room, ask, {ends_by, false});
    ranks.when_empty +=
        RanksIn(worker, EmptyRoom(worker), ask, {ends_by, true});
    if (ranks.now >= ask.shape.ranks) break;
  }
  return ranks;
}

// Of the limits of its queue, its owner and its parent.
struct Limits {
  // The job alone is more than one of them, or nobody can tell when the last
  // lets it start.
  bool never = false;
  bool now = false;
};

Limits LimitsOf(const Tables& tables, const QueuePlace& place,
                const WaitingJob& job) {
  const int devices = place.ask.shape.num_devices();
  Limits limits;
  const auto check = [&](int held, std::optional<int> limit) {
    if (!limit.has_value()) return;
    limits.never |= devices > *limit;
    limits.now |= held + devices > *limit;
  };
  if (const QueueKind* use = UseOf(tables, place); use != nullptr) {
    check(use->held + use->kept, use->quota.limit);
  }
  const QueueEntry& queue = tables.queues[place.queue];
  const auto it = queue.owners.find(tables.owners.Find(job.owner));
  const OwnerUse use = it == queue.owners.end() ? OwnerUse() : it->second;
  check(use.held + use.kept, queue.max_per_owner);
  const int id = tables.parent_ids.Find(job.parent);
  if (id >= 0) {
    const ParentEntry& parent = tables.parents[id];
    limits.never |=
        parent.num_running + parent.num_reserved >= parent.max_parallel;
  }
  return limits;
}

// Whether a job of the queue is before it for its kind of device.
bool IsFirst(const Tables& tables, const QueuePlace& place) {
  const QueueKind* use = UseOf(tables, place);
  return use == nullptr || use->lanes.empty() ||
         !(use->lanes.begin()->key < place.key);
}

}  // namespace

int64_t JobsAhead(const Tables& tables, const QueuePlace& place) {
  int64_t jobs = 0;
  for (const auto& [kind, use] : tables.queues[place.queue].kinds) {
    for (const LaneHead& head : use.lanes) {
      jobs += tables.lanes[head.lane].jobs.CountBefore(place.key);
    }
  }
  return jobs;
}

std::optional<absl::Duration> GuessStart(const Board& board,
                                         const QueuePlace& place,
                                         absl::Duration now) {
  const Tables& tables = board.tables();
  const QueueKind* use = UseOf(tables, place);
  const double mean_run_s = use == nullptr ? 0 : use->mean_run_s;
  double device_s = 0;
  // Whether it is known how long they take.
  const auto add = [&](const Shape& shape, int64_t jobs) {
    const double seconds = SecondsOf(shape, mean_run_s);
    device_s += static_cast<double>(jobs) * shape.num_devices() * seconds;
    return jobs == 0 || seconds > 0;
  };
  if (!add(place.ask.shape, 1)) return std::nullopt;
  if (use != nullptr) {
    for (const LaneHead& head : use->lanes) {
      const Lane& lane = tables.lanes[head.lane];
      if (!add(tables.shapes[lane.shape].shape,
               lane.jobs.CountBefore(place.key))) {
        return std::nullopt;
      }
    }
  }
  // The later it starts, the fewer workers are drained late enough.
  absl::Duration start = now;
  for (int i = 0; i < kMaxGuesses; ++i) {
    const absl::Duration ends_by =
        LatestEnd(place.ask.shape, start, board.options().grace);
    const double devices = DevicesFor(tables, place, ends_by);
    if (devices < 1) return std::nullopt;
    const absl::Duration later = now + absl::Seconds(device_s / devices);
    if (i > 0 && later == start) return start;
    start = later;
  }
  return std::nullopt;
}

Standing StandingOf(const Board& board, const WaitingJob& job,
                    absl::Duration now) {
  const Tables& tables = board.tables();
  const QueuePlace place{tables.queue_ids.find(job.queue)->second,
                         board.KeyOf(job),
                         {job.shape, FindKind(tables, job.shape.kind)}};
  Standing standing;
  standing.jobs_ahead = JobsAhead(tables, place);
  const RanksOf ranks = CountRanks(
      tables, place.ask, LatestEnd(job.shape, now, board.options().grace));
  const Limits limits = LimitsOf(tables, place, job);
  const bool fits = ranks.now >= job.shape.ranks;
  if (limits.never || (!fits && ranks.when_empty < job.shape.ranks)) {
    return standing;
  }
  standing.start = fits && !limits.now && IsFirst(tables, place)
                       ? now
                       : GuessStart(board, place, now);
  return standing;
}

}  // namespace ordo::scheduler::policy
