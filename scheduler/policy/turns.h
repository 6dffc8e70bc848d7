#ifndef ORDO_SCHEDULER_POLICY_TURNS_H_
#define ORDO_SCHEDULER_POLICY_TURNS_H_

#include <optional>
#include <queue>
#include <vector>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/tables.h"

// Whose turn it is: queues by what they had, and in each queue the lanes by
// their next job. Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// The lanes of one queue for one kind of device.
class QueueTurn {
 public:
  // All outlive this and do not change.
  QueueTurn(const Tables& tables, int queue, const QueueKind& kind);

  int queue() const { return queue_; }
  const QueueKind& kind() const { return *kind_; }

  // The lane whose next job is first; nothing: none is left.
  std::optional<LaneHead> Next();
  // Has the lane that Next returned looked at again, with the job after that
  // one.
  void Advance(const LaneHead& head);
  // Has the lane that Next returned looked at again, with the same job.
  void Return(const LaneHead& head) { advanced_.push(head); }
  // Others come before it from now on, unless it lacks what it is guaranteed.
  void Defer() { deferred_ = true; }
  bool deferred() const { return deferred_; }
  // No job of the queue, or of one of its owners, has its turn any more.
  void Close() { closed_ = true; }
  void CloseOwner(int owner) { closed_owners_.push_back(owner); }
  bool IsClosed(int owner) const;

 private:
  struct Later {
    bool operator()(const LaneHead& a, const LaneHead& b) const {
      return b < a;
    }
  };

  const Tables* tables_;
  int queue_;
  const QueueKind* kind_;
  absl::btree_set<LaneHead>::const_iterator next_;
  std::priority_queue<LaneHead, std::vector<LaneHead>, Later> advanced_;
  bool closed_ = false;
  bool deferred_ = false;
  std::vector<int> closed_owners_;
};

// The queues in which jobs wait for one kind of device.
class Turns {
 public:
  Turns(const Board& board, int kind, absl::Duration now);

  // The queue whose turn it is: one that holds less than it is guaranteed
  // before others, then the one that used least for its weight; of both, those
  // that are deferred last. Null: all are done.
  QueueTurn* Best();
  // The best is not asked any more.
  void Finish();
  // The best was given so many devices.
  void Give(int devices);

 private:
  struct Contender {
    QueueTurn turn;
    double weight;
    double used;
    // Short of its guarantee.
    int lacking;
  };

  const double charge_s_;
  std::vector<Contender> contenders_;
  size_t best_ = 0;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_TURNS_H_
