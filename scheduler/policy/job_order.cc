#include "scheduler/policy/job_order.h"

#include <algorithm>

#include "base/check.h"

namespace ordo::scheduler::policy {
namespace {

constexpr size_t kBlockSize = 256;

}  // namespace

size_t JobOrder::Find(const OrderKey& key) const {
  // Most jobs come last and leave first.
  if (blocks_.empty() || blocks_.back().back() < key) return blocks_.size();
  if (!(blocks_.front().back() < key)) return 0;
  const auto it = std::lower_bound(
      blocks_.begin(), blocks_.end(), key,
      [](const Block& block, const OrderKey& k) { return block.back() < k; });
  return it - blocks_.begin();
}

void JobOrder::Insert(const OrderKey& key) {
  ++size_;
  size_t at = Find(key);
  if (at == blocks_.size()) {
    if (blocks_.empty() || blocks_.back().size() == kBlockSize) {
      blocks_.emplace_back();
    }
    blocks_.back().push_back(key);
    return;
  }
  if (blocks_[at].size() == kBlockSize) {
    const auto middle = blocks_[at].begin() + kBlockSize / 2;
    Block upper(middle, blocks_[at].end());
    blocks_[at].erase(middle, blocks_[at].end());
    blocks_.insert(blocks_.begin() + at + 1, std::move(upper));
    if (blocks_[at].back() < key) ++at;
  }
  Block& block = blocks_[at];
  block.insert(std::lower_bound(block.begin(), block.end(), key), key);
}

void JobOrder::Erase(const OrderKey& key) {
  const size_t at = Find(key);
  ORDO_CHECK(at < blocks_.size()) << "job " << key.sequence;
  Block& block = blocks_[at];
  const auto it = std::lower_bound(block.begin(), block.end(), key);
  ORDO_CHECK(*it == key) << "job " << key.sequence;
  block.erase(it);
  --size_;
  if (block.empty()) {
    blocks_.erase(blocks_.begin() + at);
  } else if (at + 1 < blocks_.size() &&
             block.size() + blocks_[at + 1].size() <= kBlockSize / 2) {
    // Otherwise cancelling most jobs would leave blocks with one each.
    const Block& next = blocks_[at + 1];
    block.insert(block.end(), next.begin(), next.end());
    blocks_.erase(blocks_.begin() + at + 1);
  }
}

std::optional<OrderKey> JobOrder::After(const OrderKey& key) const {
  const size_t at = Find(key);
  if (at == blocks_.size()) return std::nullopt;
  const Block& block = blocks_[at];
  const auto it = std::upper_bound(block.begin(), block.end(), key);
  if (it != block.end()) return *it;
  if (at + 1 == blocks_.size()) return std::nullopt;
  return blocks_[at + 1].front();
}

bool JobOrder::Contains(const OrderKey& key) const {
  const size_t at = Find(key);
  return at < blocks_.size() &&
         std::binary_search(blocks_[at].begin(), blocks_[at].end(), key);
}

int64_t JobOrder::CountBefore(const OrderKey& key) const {
  const size_t at = Find(key);
  int64_t count = 0;
  for (size_t i = 0; i < at; ++i) count += blocks_[i].size();
  if (at < blocks_.size()) {
    const Block& block = blocks_[at];
    count += std::lower_bound(block.begin(), block.end(), key) - block.begin();
  }
  return count;
}

}  // namespace ordo::scheduler::policy
