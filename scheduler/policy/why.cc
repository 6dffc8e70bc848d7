#include "scheduler/policy/why.h"

#include <algorithm>
#include <utility>

#include "scheduler/policy/accounts.h"
#include "scheduler/policy/classes.h"
#include "scheduler/policy/guess.h"
#include "scheduler/policy/plan.h"
#include "scheduler/policy/standing.h"
#include "scheduler/policy/turns.h"

namespace ordo::scheduler::policy {
namespace {

// A job that waits, and what it is asked by.
struct Asked {
  const Tables& tables;
  int64_t job;
  const WaitEntry& entry;
  const Lane& lane;
  bool is_reserved;

  OrderKey key() const { return {entry.k, job}; }
  int kind() const { return tables.shapes[lane.shape].kind; }
};

Reason Limited(Constraint constraint, const Claim& claim) {
  Reason reason;
  reason.constraint = constraint;
  reason.wanted = claim.wanted;
  reason.limit = claim.limit;
  return reason;
}

// That its parent's limit keeps a job of the lane from starting, if it does:
// which holds up no others.
std::optional<Reason> ParentLimitOf(const Tables& tables, const Lane& lane,
                                    bool is_reserved) {
  const Claim parent = Accounts(tables).ParentClaim(lane, is_reserved);
  if (!parent.exceeds()) return std::nullopt;
  return Limited(Constraint::kParentLimit, parent);
}

// The limit that keeps a job of the lane, and those behind it, from starting,
// if one does.
std::optional<Reason> LimitOf(const Tables& tables, const Lane& lane,
                              bool is_reserved, bool impossible) {
  const Accounts accounts(tables);
  const Claim queue = accounts.QueueClaim(lane, is_reserved);
  if (impossible ? queue.impossible : queue.exceeds()) {
    return Limited(Constraint::kQueueLimit, queue);
  }
  const Claim owner = accounts.OwnerClaim(lane, is_reserved);
  if (impossible ? owner.impossible : owner.exceeds()) {
    return Limited(Constraint::kOwnerLimit, owner);
  }
  return std::nullopt;
}

// The job before it that it has to wait for, 0: none.
int64_t JobBefore(const Asked& asked, const Plan& plan) {
  const Tables& tables = asked.tables;
  QueueTurn turn(tables, asked.lane.queue,
                 tables.queues[asked.lane.queue].kinds.at(asked.kind()));
  while (const auto head = turn.Next()) {
    if (!(head->key < asked.key())) break;
    const int64_t other = head->key.sequence;
    if (head->lane == asked.entry.lane) return other;
    const Lane& lane = tables.lanes[head->lane];
    if (!IsFeasible(tables, lane.shape, plan.EndsBy(lane.shape)) ||
        LimitOf(tables, lane, false, /*impossible=*/true).has_value() ||
        ParentLimitOf(tables, lane, tables.reservations.count(other) > 0)
            .has_value()) {
      continue;
    }
    const auto limit =
        LimitOf(tables, lane, tables.reservations.count(other) > 0,
                /*impossible=*/false);
    if (limit.has_value() && (limit->constraint == Constraint::kQueueLimit ||
                              lane.owner == asked.lane.owner)) {
      return other;
    }
  }
  return 0;
}

// For whom the room is kept that the job would start in.
int64_t KeptFor(const Asked& asked, const Board& board, absl::Duration now) {
  PlanOptions options;
  options.ignore_reservations = true;
  for (const Assignment& assignment :
       Plan(board, now, options).Fit(asked.lane.shape)) {
    const int64_t other = asked.tables.workers[assignment.worker].reserved_for;
    if (other != 0) return other;
  }
  return 0;
}

Reason Ordered(Constraint constraint, int64_t other) {
  Reason reason;
  reason.constraint = constraint;
  reason.other = other;
  return reason;
}

// A job's shape with less in it, to see what it lacks.
struct Eased {
  Shape shape;
  // Also where another has the worker for itself.
  bool anywhere = false;
};

// Whether there would be room for it now.
bool HasRoom(const Asked& asked, const Eased& eased, absl::Duration ends_by) {
  const Tables& tables = asked.tables;
  int64_t ranks = 0;
  for (const ClassFit& fit : tables.shapes[asked.lane.shape].classes) {
    const RoomIndex& rooms = tables.classes[fit.worker_class].rooms;
    const auto index = rooms.find(asked.kind());
    if (index == rooms.end()) continue;
    for (const RoomKey& key : index->second.open) {
      const WorkerEntry& worker = tables.workers[key.worker];
      Room room = worker.room;
      if (eased.anywhere) room.num_exclusive = 0;
      ranks += RanksIn(worker, room, {eased.shape, asked.kind()},
                       {ends_by, worker.reserved_for == asked.job});
      if (ranks >= eased.shape.ranks) return true;
    }
  }
  return false;
}

// Of a job for which there is no room.
Lack LackOf(const Asked& asked, absl::Duration ends_by) {
  const Shape& shape = asked.tables.shapes[asked.lane.shape].shape;
  const auto would_fit = [&](const Eased& eased) {
    return HasRoom(asked, eased, ends_by);
  };
  Eased less{shape, /*anywhere=*/true};
  if (would_fit(less)) return Lack::kSharedWorkers;
  less.shape.exclusive = false;
  if (shape.exclusive && would_fit(less)) return Lack::kEmptyWorkers;
  less = {shape};
  less.shape.cpus = 0;
  if (shape.cpus > 0 && would_fit(less)) return Lack::kCpus;
  less = {shape};
  less.shape.memory_bytes = 0;
  if (shape.memory_bytes > 0 && would_fit(less)) return Lack::kMemory;
  return Lack::kDevices;
}

Reason FindReason(const Asked& asked, const Board& board, absl::Duration now) {
  const Tables& tables = asked.tables;
  Reason reason;
  Plan plan(board, now);
  if (asked.is_reserved && (!plan.FitReserved(asked.job).empty() ||
                            !plan.FitBeside(asked.job).empty())) {
    return reason;
  }
  const bool fits = !plan.Fit(asked.lane.shape).empty();
  const absl::Duration ends_by = plan.EndsBy(asked.lane.shape);
  if (!fits && !IsFeasible(tables, asked.lane.shape, ends_by)) {
    reason.constraint = IsOffered(tables, asked.lane.shape)
                            ? Constraint::kClosed
                            : Constraint::kUnoffered;
    return reason;
  }
  if (const auto limit =
          LimitOf(tables, asked.lane, asked.is_reserved, /*impossible=*/true)) {
    return *limit;
  }
  if (const auto limit = ParentLimitOf(tables, asked.lane, asked.is_reserved)) {
    return *limit;
  }
  // What has room kept for it waits for that, unless it would fit elsewhere.
  if (!asked.is_reserved || fits) {
    if (const int64_t other = JobBefore(asked, plan); other != 0) {
      return Ordered(Constraint::kOrder, other);
    }
  }
  if (const auto limit = LimitOf(tables, asked.lane, asked.is_reserved,
                                 /*impossible=*/false)) {
    return *limit;
  }
  if (fits) return reason;
  const int64_t other = KeptFor(asked, board, now);
  if (other != 0 && other != asked.job) {
    return Ordered(Constraint::kReservation, other);
  }
  reason.constraint = Constraint::kRoom;
  reason.lack = LackOf(asked, ends_by);
  return reason;
}

bool CanStart(const Asked& asked, Constraint constraint) {
  return constraint != Constraint::kUnoffered &&
         constraint != Constraint::kClosed &&
         constraint != Constraint::kParentLimit &&
         !LimitOf(asked.tables, asked.lane, false, /*impossible=*/true);
}

}  // namespace

Reason Why(const Board& board, int64_t job, absl::Duration now) {
  const Tables& tables = board.tables();
  const WaitEntry& entry = tables.waiting.at(job);
  const auto reservation = tables.reservations.find(job);
  const bool is_reserved = reservation != tables.reservations.end();
  const Asked asked{tables, job, entry, tables.lanes[entry.lane], is_reserved};
  Reason reason = FindReason(asked, board, now);
  const QueuePlace place{asked.lane.queue, asked.key(),
                         AskOf(tables, asked.lane.shape), asked.lane.owner};
  reason.jobs_ahead = JobsAhead(tables, place);
  if (reason.constraint == Constraint::kNone) {
    reason.start = now;
    return reason;
  }
  if (CanStart(asked, reason.constraint)) {
    reason.start = GuessStart(board, place, now);
  }
  // By then the room that is kept for it is free.
  if (is_reserved && reservation->second.at < absl::InfiniteDuration()) {
    const absl::Duration at = std::max(now, reservation->second.at);
    reason.start = std::min(reason.start.value_or(at), at);
  }
  return reason;
}

}  // namespace ordo::scheduler::policy
