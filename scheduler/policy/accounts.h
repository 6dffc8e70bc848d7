#ifndef ORDO_SCHEDULER_POLICY_ACCOUNTS_H_
#define ORDO_SCHEDULER_POLICY_ACCOUNTS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "scheduler/policy/tables.h"

// What queues, owners and parents would hold with what one call gives and
// keeps.
// Internal to scheduler/policy.

namespace ordo::scheduler::policy {

// Against a limit, for one job of a lane.
struct Claim {
  // Nothing of it, when there is no limit.
  bool limited = false;
  // What would be held or kept with the job, and the limit.
  int64_t wanted = 0;
  int64_t limit = 0;
  // The job alone is more than the limit.
  bool impossible = false;

  bool exceeds() const { return limited && wanted > limit; }
};

class Accounts {
 public:
  // `tables` outlives this.
  explicit Accounts(const Tables& tables) : tables_(tables) {}

  // A job of the lane, with so many devices, starts or has room kept for it.
  void Add(const Lane& lane, int devices);
  // `is_reserved`: the job has a reservation, which counts already.
  Claim QueueClaim(const Lane& lane, bool is_reserved) const;
  Claim OwnerClaim(const Lane& lane, bool is_reserved) const;
  // Of parts that run or have room kept for them.
  Claim ParentClaim(const Lane& lane, bool is_reserved) const;
  // What of its guarantee the lane's queue would have with one job of it.
  Claim GuaranteeClaim(const Lane& lane, bool is_reserved) const;

 private:
  int64_t QueueTotal(const Lane& lane, bool is_reserved) const;

  const Tables& tables_;
  // By queue and kind, by queue and owner.
  absl::flat_hash_map<std::pair<int, int>, int> queues_;
  absl::flat_hash_map<std::pair<int, int>, int> owners_;
  // Parts, by parent.
  absl::flat_hash_map<int, int> parents_;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_ACCOUNTS_H_
