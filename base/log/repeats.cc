#include "base/log/repeats.h"

#include <utility>

namespace ordo::base {

void Repeats::ForgetOldest() {
  const auto count = counts_.find(seen_.front().line);
  if (count->second > kMaxShown) {
    over_.push_back({std::move(seen_.front().line), count->second - kMaxShown});
  }
  counts_.erase(count);
  seen_.pop_front();
}

bool Repeats::IsShown(const std::string& line, absl::Duration now) {
  while (!seen_.empty() && now >= seen_.front().until) ForgetOldest();
  const auto [count, is_new] = counts_.emplace(line, 1);
  if (is_new) {
    seen_.push_back({line, now + kPeriod});
    if (seen_.size() > kMaxLines) ForgetOldest();
    return true;
  }
  if (++count->second <= kMaxShown) return true;
  ++num_held_back_;
  return false;
}

std::vector<Repeats::HeldBack> Repeats::TakeOver(absl::Duration now) {
  while (!seen_.empty() && now >= seen_.front().until) ForgetOldest();
  return std::exchange(over_, {});
}

}  // namespace ordo::base
