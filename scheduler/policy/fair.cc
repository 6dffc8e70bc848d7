#include "scheduler/policy/fair.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "scheduler/policy/accounts.h"
#include "scheduler/policy/classes.h"
#include "scheduler/policy/plan.h"
#include "scheduler/policy/preempt.h"
#include "scheduler/policy/reserve.h"
#include "scheduler/policy/turns.h"

namespace ordo::scheduler::policy {
namespace {

// Lanes of a queue that are asked whether they may stop others. Lanes of parts
// whose parent has as many live as it may are passed over beside these, in any
// number; each costs a look-up.
constexpr int kMaxLooks = 64;

// One call.
class Round {
 public:
  Round(const Board& board, absl::Duration now)
      : board_(board),
        tables_(board.tables()),
        plan_(board, now),
        accounts_(board.tables()) {}

  Decisions Run() {
    StartReserved();
    for (size_t kind = 0; kind < tables_.kinds.size(); ++kind) {
      StartKind(static_cast<int>(kind));
    }
    StartBesideReserved();
    if (!decisions_.more) LookForVictims();
    decisions_.lapses_at =
        NextLapse(tables_, plan_.now(), board_.options().grace);
    return std::move(decisions_);
  }

 private:
  // Jobs that had their turn and lack only room, in its order.
  struct Blocked {
    std::vector<LaneHead> heads;
    // Those before it have had room kept for them, if they may.
    size_t next = 0;
    // One past the last that needs a reservation.
    size_t end = 0;
    // One that could have room kept for it was among them; one could not.
    bool has_first = false;
    bool closed = false;
    // Queues by whether any was kept for one of theirs in this call.
    absl::flat_hash_set<int> kept_queues;
    absl::flat_hash_set<int> passed_over;
  };

  bool IsFull() const { return decisions_.starts.size() >= kMaxStarts; }

  int NumDevices(const Lane& lane) const {
    return tables_.shapes[lane.shape].shape.num_devices();
  }

  // Whether a job of the lane that starts now, if the workers were empty, ends
  // before they are drained.
  bool IsFeasibleNow(const Lane& lane) const {
    return IsFeasible(tables_, lane.shape, plan_.EndsBy(lane.shape));
  }

  bool IsReserved(int64_t job) const {
    return tables_.reservations.count(job) > 0;
  }

  // What was kept for a job is used once all of it is free.
  void StartReserved() {
    for (const auto& [job, reservation] : tables_.reservations) {
      if (IsFull()) {
        decisions_.more = true;
        break;
      }
      const Assignments where = plan_.FitReserved(job);
      if (where.empty()) continue;
      const int shape = tables_.lanes[tables_.waiting.at(job).lane].shape;
      decisions_.starts.push_back(plan_.Give({job, shape, where, true}));
      started_.insert(job);
    }
  }

  // What has room kept for it starts elsewhere too where nobody else wants it:
  // what its ranks lack where it is kept is free.
  void StartBesideReserved() {
    for (const auto& [job, reservation] : tables_.reservations) {
      if (started_.contains(job)) continue;
      if (IsFull()) {
        decisions_.more = true;
        break;
      }
      const Assignments where = plan_.FitBeside(job);
      if (where.empty()) continue;
      const int shape = tables_.lanes[tables_.waiting.at(job).lane].shape;
      decisions_.starts.push_back(plan_.Give({job, shape, where, true}));
      started_.insert(job);
      // What was kept for it and is not used can be had then.
      decisions_.more = true;
    }
  }

  void StartKind(int kind) {
    // Shapes that may still have room; none has it once it had not.
    num_open_shapes_ = tables_.kinds[kind].num_shapes;
    blocked_ = Blocked();
    if (num_open_shapes_ == 0 || !plan_.HasRoom(kind)) return;
    Turns turns(board_, kind, plan_.now());
    while (QueueTurn* turn = turns.Best()) {
      const bool was_deferred = turn->deferred();
      const int given = StartNext(*turn);
      if (given > 0) {
        turns.Give(given);
      } else if (turn->deferred() == was_deferred) {
        turns.Finish();
      }
      if (num_open_shapes_ == 0 || !plan_.HasRoom(kind)) return;
      if (IsFull()) {
        decisions_.more = true;
        return;
      }
    }
  }

  // Starts the first job of the queue that may; the number of its devices, 0
  // when none may or, by turn.deferred(), others come before it.
  int StartNext(QueueTurn& turn) {
    const bool was_deferred = turn.deferred();
    while (const std::optional<LaneHead> head = turn.Next()) {
      if (started_.contains(head->key.sequence)) {
        turn.Advance(*head);
        continue;
      }
      const Lane& lane = tables_.lanes[head->lane];
      if (!MayHold(lane, head->key.sequence, turn)) continue;
      if (!Start(*head, lane, turn)) {
        if (num_open_shapes_ == 0 || turn.deferred() != was_deferred) return 0;
        continue;
      }
      turn.Advance(*head);
      return NumDevices(lane);
    }
    return 0;
  }

  // Whether the limits of its queue, owner and parent let the job start. What
  // has to wait for one of the first two has all behind it wait too, or those
  // would keep it waiting; what waits for its parent's, only its siblings.
  bool MayHold(const Lane& lane, int64_t job, QueueTurn& turn) {
    if (turn.IsClosed(lane.owner)) return false;
    const bool is_reserved = IsReserved(job);
    if (accounts_.ParentClaim(lane, is_reserved).exceeds()) return false;
    const Claim queue = accounts_.QueueClaim(lane, is_reserved);
    const Claim owner = accounts_.OwnerClaim(lane, is_reserved);
    if (queue.impossible || owner.impossible) return false;
    if (!queue.exceeds() && !owner.exceeds()) return true;
    if (!IsFeasibleNow(lane)) return false;
    if (queue.exceeds()) {
      turn.Close();
    } else {
      turn.CloseOwner(lane.owner);
    }
    return false;
  }

  bool Start(const LaneHead& head, const Lane& lane, QueueTurn& turn) {
    Assignments where = Fit(head, lane.shape);
    if (where.empty()) return false;
    // Those before it that are blocked would lose what it gets.
    if (KeepForBlocked()) {
      if (!MayHold(lane, head.key.sequence, turn)) return false;
      where = Fit(head, lane.shape);
      if (where.empty()) return false;
    }
    if (!turn.deferred() && IsPassedOver(turn)) {
      turn.Return(head);
      turn.Defer();
      return false;
    }
    const int64_t job = head.key.sequence;
    decisions_.starts.push_back(plan_.Give({job, lane.shape, where}));
    started_.insert(job);
    if (IsReserved(job)) {
      // What was kept for it can be had once this is carried out.
      decisions_.more = true;
    } else {
      accounts_.Add(lane, NumDevices(lane));
    }
    return true;
  }

  // Whether one of the queue wants room kept and gets none, and no other of it
  // has any: those behind it would use up what its queue is due, and with it
  // the turn in which room can be kept for it.
  bool IsPassedOver(const QueueTurn& turn) const {
    const auto& lanes = turn.kind().lanes;
    return blocked_.passed_over.contains(turn.queue()) &&
           !blocked_.kept_queues.contains(turn.queue()) &&
           std::none_of(lanes.begin(), lanes.end(), [&](const LaneHead& head) {
             return tables_.lanes[head.lane].num_reserved > 0;
           });
  }

  Assignments Fit(const LaneHead& head, int shape) {
    Assignments where;
    if (!plan_.IsBlocked(shape)) {
      where = plan_.FitFor(head.key.sequence, shape);
      if (where.empty()) --num_open_shapes_;
    }
    if (where.empty()) {
      blocked_.heads.push_back(head);
      if (NeedsReservation(tables_.shapes[shape].shape)) {
        blocked_.end = blocked_.heads.size();
      }
    }
    return where;
  }

  // Keeps room for the blocked jobs there are so far, up to the last that needs
  // it; whether any was kept.
  bool KeepForBlocked() {
    bool kept = false;
    for (; blocked_.next < blocked_.end; ++blocked_.next) {
      const LaneHead& head = blocked_.heads[blocked_.next];
      const Lane& lane = tables_.lanes[head.lane];
      if (KeepFor(head)) {
        blocked_.kept_queues.insert(lane.queue);
        kept = true;
      } else if (blocked_.closed && IsFeasibleNow(lane) &&
                 NeedsReservation(tables_.shapes[lane.shape].shape)) {
        blocked_.passed_over.insert(lane.queue);
      }
    }
    return kept;
  }

  // Whether the room that is kept for it came too late to start before a drain.
  bool HasLapsed(const LaneHead& head) const {
    const auto it = tables_.reservations.find(head.key.sequence);
    if (it == tables_.reservations.end()) return false;
    const absl::Duration ends_by = plan_.EndsBy(tables_.lanes[head.lane].shape);
    return std::any_of(it->second.workers.begin(), it->second.workers.end(),
                       [&](const std::pair<int, int>& kept) {
                         return tables_.workers[kept.first].room.drain_at <
                                ends_by;
                       });
  }

  // Whether room was kept that was not before. Nobody has any kept before those
  // whose turn is earlier, and the first is never one too many: so it has room
  // kept as soon as what was kept before it came is used.
  bool KeepFor(const LaneHead& head) {
    const Lane& lane = tables_.lanes[head.lane];
    if (blocked_.closed || !IsFeasibleNow(lane)) return false;
    const bool is_first = !std::exchange(blocked_.has_first, true);
    const bool has_lapsed = HasLapsed(head);
    if ((lane.num_reserved > 0 && !has_lapsed) ||
        accounts_.QueueClaim(lane, has_lapsed).exceeds() ||
        accounts_.OwnerClaim(lane, has_lapsed).exceeds() ||
        accounts_.ParentClaim(lane, has_lapsed).exceeds()) {
      return false;
    }
    const size_t num_reserved =
        tables_.reservations.size() + decisions_.reservations.size();
    std::optional<FutureRoom> room;
    if (is_first || num_reserved < board_.options().max_reservations) {
      room = FindFutureRoom(plan_, lane.shape);
      if (!room.has_value() && !MayHaveRoom(plan_, lane.shape)) {
        // Drains come before it can: nobody behind it waits for that.
        blocked_.has_first = !is_first;
        return false;
      }
    }
    if (!room.has_value()) {
      blocked_.closed = true;
      return false;
    }
    // What was kept can be had once this is carried out.
    decisions_.more |= has_lapsed;
    plan_.Keep(lane.shape, room->where, room->at);
    AddReservation(head, *room);
    return true;
  }

  void AddReservation(const LaneHead& head, const FutureRoom& room) {
    Reservation& reservation = decisions_.reservations.emplace_back();
    reservation.job = head.key.sequence;
    reservation.at = room.at;
    for (const auto& [worker, ranks] : room.where) {
      reservation.workers.push_back({tables_.workers[worker].facts.id, ranks});
    }
    if (IsReserved(reservation.job)) return;
    const Lane& lane = tables_.lanes[head.lane];
    accounts_.Add(lane, NumDevices(lane));
  }

  // A job that may stop others.
  struct Claimant {
    LaneHead head;
    int priority;
    // Takes back what its queue is guaranteed.
    bool reclaim;
  };

  // Whether another queue holds more than it is guaranteed.
  bool IsAnyAbove(int kind, int queue) const {
    for (const auto& [name, other] : tables_.queue_ids) {
      const auto it = tables_.queues[other].kinds.find(kind);
      if (other == queue || it == tables_.queues[other].kinds.end()) continue;
      const QueueKind& use = it->second;
      if (use.held - use.stopping > use.quota.guaranteed) return true;
    }
    return false;
  }

  bool IsServedSoon(int64_t job) const {
    const auto it = tables_.reservations.find(job);
    return it != tables_.reservations.end() &&
           it->second.at <= plan_.now() + board_.options().grace;
  }

  // Whether jobs of the queue might stop those of others, or of their own: as
  // it was when the call began, or as it may be once its starts run.
  bool MayReclaim(int kind, int queue) const {
    const QueueKind& use = tables_.queues[queue].kinds.at(kind);
    return use.held + use.kept < use.quota.guaranteed &&
           (!decisions_.starts.empty() || IsAnyAbove(kind, queue));
  }
  bool MayOvertake(int kind, int queue) const {
    const QueueKind& use = tables_.queues[queue].kinds.at(kind);
    const int most = use.priorities.rbegin()->first;
    return (!use.attempts.empty() && most > use.attempts.begin()->priority) ||
           (!decisions_.starts.empty() && most > use.priorities.begin()->first);
  }

  // The queues with jobs that might stop others.
  std::vector<int> MayPreempt(int kind) const {
    std::vector<int> queues;
    for (const int queue : tables_.kinds[kind].queues) {
      if (MayReclaim(kind, queue) || MayOvertake(kind, queue)) {
        queues.push_back(queue);
      }
    }
    return queues;
  }

  // The first job of the queue that may stop others.
  std::optional<Claimant> FindClaimant(int kind_id, int queue) {
    const QueueKind& kind = tables_.queues[queue].kinds.at(kind_id);
    const bool may_reclaim = MayReclaim(kind_id, queue);
    const bool may_preempt = MayOvertake(kind_id, queue);
    QueueTurn turn(tables_, queue, kind);
    for (int looks = 0; looks < kMaxLooks;) {
      const std::optional<LaneHead> head = turn.Next();
      if (!head.has_value()) break;
      const int64_t job = head->key.sequence;
      const Lane& lane = tables_.lanes[head->lane];
      // What waits for its siblings stops nobody, however many lanes it has.
      if (accounts_.ParentClaim(lane, IsReserved(job)).exceeds()) continue;
      ++looks;
      if (started_.contains(job) || IsServedSoon(job)) {
        turn.Advance(*head);
        continue;
      }
      if (!MayHold(lane, job, turn)) continue;
      Claimant claimant{*head, tables_.waiting.at(job).priority, false};
      claimant.reclaim =
          may_reclaim &&
          !accounts_.GuaranteeClaim(lane, IsReserved(job)).exceeds();
      if (!claimant.reclaim &&
          (!may_preempt ||
           claimant.priority <= kind.attempts.begin()->priority)) {
        continue;
      }
      // Those who stop for it take a grace.
      const absl::Duration at = plan_.now() + board_.options().grace;
      if (IsFeasible(tables_, lane.shape, plan_.EndsBy(lane.shape, at)) &&
          plan_.Fit(lane.shape).empty()) {
        return claimant;
      }
    }
    return std::nullopt;
  }

  void LookForVictims() {
    for (size_t i = 0; i < tables_.kinds.size(); ++i) {
      const int kind = static_cast<int>(i);
      const std::vector<int> queues = MayPreempt(kind);
      if (queues.empty()) continue;
      if (plan_.now() < tables_.preempt_at) {
        decisions_.ask_again_at = tables_.preempt_at;
        return;
      }
      // Who is stopped depends on who runs: once this is carried out.
      decisions_.more |= !decisions_.empty();
      if (decisions_.more) return;
      PreemptFor(kind, queues);
      // Others may stop some once these are known to be stopping.
      decisions_.more = !decisions_.preemptions.empty();
      if (decisions_.more) return;
      decisions_.ask_again_at =
          plan_.now() + board_.options().preemption_period;
    }
  }

  // Has attempts stopped for those claimants that they make room for, the
  // largest priority first.
  void PreemptFor(int kind, const std::vector<int>& queues) {
    std::vector<Claimant> claimants;
    for (const int queue : queues) {
      const auto claimant = FindClaimant(kind, queue);
      if (claimant.has_value()) claimants.push_back(*claimant);
    }
    std::stable_sort(claimants.begin(), claimants.end(),
                     [](const Claimant& a, const Claimant& b) {
                       return a.priority > b.priority;
                     });
    Stopped stopped;
    for (const Claimant& claimant : claimants) {
      if (tables_.reservations.size() + decisions_.reservations.size() >=
          2 * board_.options().max_reservations) {
        return;
      }
      Preempt(claimant, &stopped);
    }
  }

  void Preempt(const Claimant& claimant, Stopped* stopped) {
    const LaneHead& head = claimant.head;
    const Victims victims =
        ChooseVictims(plan_, {head.key.sequence, claimant.reclaim}, stopped);
    if (victims.jobs.empty()) return;
    const Lane& lane = tables_.lanes[head.lane];
    for (const int64_t victim : victims.jobs) {
      const RunEntry& run = tables_.running.at(victim);
      const bool is_own = tables_.lanes[run.lane].queue == lane.queue;
      decisions_.preemptions.push_back(
          {victim, head.key.sequence,
           is_own ? Preemption::Why::kPriority : Preemption::Why::kReclaim});
    }
    const absl::Duration at = plan_.now() + board_.options().grace;
    plan_.Keep(lane.shape, victims.where, at);
    AddReservation(head, {at, victims.where});
  }

  const Board& board_;
  const Tables& tables_;
  Plan plan_;
  Accounts accounts_;
  Decisions decisions_;
  absl::flat_hash_set<int64_t> started_;
  // Of the kind at hand: shapes that may have room, and who waits for some.
  int num_open_shapes_ = 0;
  Blocked blocked_;
};

}  // namespace

Decisions PlaceFair(const Board& board, absl::Duration now) {
  return Round(board, now).Run();
}

}  // namespace ordo::scheduler::policy
