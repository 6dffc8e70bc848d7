#ifndef ORDO_SCHEDULER_POLICY_JOB_ORDER_H_
#define ORDO_SCHEDULER_POLICY_JOB_ORDER_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace ordo::scheduler::policy {

// Where a job stands in its queue: smaller is earlier.
struct OrderKey {
  // Nanoseconds: when it was submitted, less what its priority is worth.
  int64_t k = 0;
  int64_t sequence = 0;
};

inline bool operator<(const OrderKey& a, const OrderKey& b) {
  return std::tie(a.k, a.sequence) < std::tie(b.k, b.sequence);
}
inline bool operator==(const OrderKey& a, const OrderKey& b) {
  return a.k == b.k && a.sequence == b.sequence;
}

// Jobs by their order, 16 bytes each and little more: sorted blocks. All calls
// take O(log n) and a move within one block.
class JobOrder {
 public:
  // It is not there.
  void Insert(const OrderKey& key);
  // It is there.
  void Erase(const OrderKey& key);

  bool empty() const { return blocks_.empty(); }
  int64_t size() const { return size_; }
  // There is one.
  const OrderKey& first() const { return blocks_.front().front(); }
  // The one after `key`, which may be there or not.
  std::optional<OrderKey> After(const OrderKey& key) const;
  bool Contains(const OrderKey& key) const;
  int64_t CountBefore(const OrderKey& key) const;

 private:
  using Block = std::vector<OrderKey>;

  // Of the first block that ends with `key` or later; blocks_.size() if none.
  size_t Find(const OrderKey& key) const;

  // Sorted, none is empty.
  std::vector<Block> blocks_;
  int64_t size_ = 0;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_JOB_ORDER_H_
