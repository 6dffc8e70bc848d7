#ifndef ORDO_SCHEDULER_POLICY_INTERNER_H_
#define ORDO_SCHEDULER_POLICY_INTERNER_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace ordo::scheduler::policy {

// Small numbers for values, from 0; those of values that nobody uses any more
// are given again.
template <typename Value>
class Interner {
 public:
  // The number of a value; one use more.
  int Acquire(const Value& value) {
    const auto [it, inserted] = ids_.try_emplace(value, 0);
    if (inserted) {
      if (free_.empty()) {
        free_.push_back(static_cast<int>(uses_.size()));
        uses_.push_back(0);
      }
      it->second = free_.back();
      free_.pop_back();
    }
    ++uses_[it->second];
    return it->second;
  }
  // One use less of the value, whose number is `id`; true when it was the last.
  bool Release(int id, const Value& value) {
    if (--uses_[id] > 0) return false;
    ids_.erase(value);
    free_.push_back(id);
    return true;
  }
  // -1 when it has none.
  template <typename Like>
  int Find(const Like& value) const {
    const auto it = ids_.find(value);
    return it == ids_.end() ? -1 : it->second;
  }
  int uses(int id) const { return uses_[id]; }
  size_t size() const { return ids_.size(); }

 private:
  absl::flat_hash_map<Value, int> ids_;
  std::vector<int> uses_;
  std::vector<int> free_;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_INTERNER_H_
