#include "scheduler/policy/standing.h"

#include "scheduler/policy/classes.h"

namespace ordo::scheduler::policy {
namespace {

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
    if (worker.worker_class < 0 || !Admits(worker, ask)) continue;
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
  const QueueKind* kind = UseOf(tables, place.queue, place.ask.kind);
  if (kind != nullptr) check(kind->held + kind->kept, kind->quota.limit);
  const QueueEntry& queue = tables.queues[place.queue];
  const auto it = queue.owners.find(place.owner);
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
  const QueueKind* use = UseOf(tables, place.queue, place.ask.kind);
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

Standing StandingOf(const Board& board, const WaitingJob& job,
                    absl::Duration now) {
  const Tables& tables = board.tables();
  const QueuePlace place{tables.queue_ids.find(job.queue)->second,
                         board.KeyOf(job),
                         {job.shape, FindKind(tables, job.shape.kind)},
                         tables.owners.Find(job.owner)};
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
