#include "scheduler/policy/turns.h"

#include <algorithm>

#include "scheduler/policy/lanes.h"

namespace ordo::scheduler::policy {

QueueTurn::QueueTurn(const Tables& tables, int queue, const QueueKind& kind)
    : tables_(&tables),
      queue_(queue),
      kind_(&kind),
      next_(kind.lanes.begin()) {}

std::optional<LaneHead> QueueTurn::Next() {
  if (closed_) return std::nullopt;
  const bool has_next = next_ != kind_->lanes.end();
  if (!advanced_.empty() && (!has_next || advanced_.top() < *next_)) {
    const LaneHead head = advanced_.top();
    advanced_.pop();
    return head;
  }
  if (!has_next) return std::nullopt;
  return *next_++;
}

void QueueTurn::Advance(const LaneHead& head) {
  const auto key = tables_->lanes[head.lane].jobs.After(head.key);
  if (key.has_value()) advanced_.push({*key, head.lane});
}

bool QueueTurn::IsClosed(int owner) const {
  return std::find(closed_owners_.begin(), closed_owners_.end(), owner) !=
         closed_owners_.end();
}

Turns::Turns(const Board& board, int kind, absl::Duration now)
    : charge_s_(absl::ToDoubleSeconds(board.options().start_charge)) {
  const Tables& tables = board.tables();
  contenders_.reserve(tables.kinds[kind].queues.size());
  // By name: of equals, the first.
  for (const auto& [name, queue] : tables.queue_ids) {
    if (tables.kinds[kind].queues.count(queue) == 0) continue;
    const QueueKind& entry = tables.queues[queue].kinds.at(kind);
    contenders_.push_back({QueueTurn(tables, queue, entry),
                           tables.queues[queue].weight,
                           UsedAt(entry, now, board.options().half_life),
                           entry.quota.guaranteed - entry.held});
  }
}

QueueTurn* Turns::Best() {
  if (contenders_.empty()) return nullptr;
  best_ = 0;
  const auto is_before = [](const Contender& a, const Contender& b) {
    if ((a.lacking > 0) != (b.lacking > 0)) return a.lacking > 0;
    if (a.turn.deferred() != b.turn.deferred()) return b.turn.deferred();
    return a.used / a.weight < b.used / b.weight;
  };
  for (size_t i = 1; i < contenders_.size(); ++i) {
    if (is_before(contenders_[i], contenders_[best_])) best_ = i;
  }
  return &contenders_[best_].turn;
}

void Turns::Finish() { contenders_.erase(contenders_.begin() + best_); }

void Turns::Give(int devices) {
  contenders_[best_].used += charge_s_ * devices;
  contenders_[best_].lacking -= devices;
}

}  // namespace ordo::scheduler::policy
