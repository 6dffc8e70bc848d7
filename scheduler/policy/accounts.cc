#include "scheduler/policy/accounts.h"

#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {
namespace {

int Find(const absl::flat_hash_map<std::pair<int, int>, int>& counts, int a,
         int b) {
  const auto it = counts.find({a, b});
  return it == counts.end() ? 0 : it->second;
}

}  // namespace

void Accounts::Add(const Lane& lane, int devices) {
  queues_[{lane.queue, tables_.shapes[lane.shape].kind}] += devices;
  owners_[{lane.queue, lane.owner}] += devices;
  if (lane.parent >= 0) ++parents_[lane.parent];
}

int64_t Accounts::QueueTotal(const Lane& lane, bool is_reserved) const {
  const ShapeEntry& shape = tables_.shapes[lane.shape];
  const QueueKind& kind = KindOf(lane, tables_);
  return int64_t{kind.held} + kind.kept +
         Find(queues_, lane.queue, shape.kind) +
         (is_reserved ? 0 : shape.shape.num_devices());
}

Claim Accounts::QueueClaim(const Lane& lane, bool is_reserved) const {
  const QueueKind& kind = KindOf(lane, tables_);
  if (!kind.quota.limit.has_value()) return {};
  const int limit = *kind.quota.limit;
  return {true, QueueTotal(lane, is_reserved), limit,
          tables_.shapes[lane.shape].shape.num_devices() > limit};
}

Claim Accounts::OwnerClaim(const Lane& lane, bool is_reserved) const {
  const QueueEntry& queue = tables_.queues[lane.queue];
  if (!queue.max_per_owner.has_value()) return {};
  const int devices = tables_.shapes[lane.shape].shape.num_devices();
  const auto it = queue.owners.find(lane.owner);
  const OwnerUse use = it == queue.owners.end() ? OwnerUse() : it->second;
  return {true,
          int64_t{use.held} + use.kept + Find(owners_, lane.queue, lane.owner) +
              (is_reserved ? 0 : devices),
          *queue.max_per_owner, devices > *queue.max_per_owner};
}

Claim Accounts::ParentClaim(const Lane& lane, bool is_reserved) const {
  if (lane.parent < 0) return {};
  const ParentEntry& parent = tables_.parents[lane.parent];
  const auto given = parents_.find(lane.parent);
  return {true,
          int64_t{parent.num_running} + parent.num_reserved +
              (given == parents_.end() ? 0 : given->second) +
              (is_reserved ? 0 : 1),
          parent.max_parallel, /*impossible=*/false};
}

Claim Accounts::GuaranteeClaim(const Lane& lane, bool is_reserved) const {
  const int guaranteed = KindOf(lane, tables_).quota.guaranteed;
  return {true, QueueTotal(lane, is_reserved), guaranteed,
          tables_.shapes[lane.shape].shape.num_devices() > guaranteed};
}

}  // namespace ordo::scheduler::policy
