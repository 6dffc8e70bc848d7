#include "services/auth/throttle.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/rpc/address.h"

namespace ordo::services::auth {
namespace {

// The share of those beyond kMaxAddresses; no address.
constexpr char kOthers[] = "others";

}  // namespace

void Throttle::Refill(absl::Duration now, Address* address) const {
  const double grown =
      absl::FDivDuration(now - address->counted, kFailurePeriod);
  address->failures_left = std::min(static_cast<double>(kFailureBurst),
                                    address->failures_left + grown);
  address->counted = now;
}

Throttle::Address& Throttle::Find(const std::string& peer) {
  const absl::Duration now = clock_.Monotonic();
  const std::string address = base::AddressOf(peer);
  auto found = addresses_.find(address);
  if (found == addresses_.end() && addresses_.size() >= kMaxAddresses &&
      now >= swept_ + kFailurePeriod) {
    swept_ = now;
    for (auto each = addresses_.begin(); each != addresses_.end();) {
      Refill(now, &each->second);
      const bool idle = each->second.failures_left >= kFailureBurst;
      each = idle ? addresses_.erase(each) : std::next(each);
    }
  }
  if (found == addresses_.end()) {
    const bool full = addresses_.size() >= kMaxAddresses;
    const auto [added, is_new] =
        addresses_.try_emplace(full ? kOthers : address);
    if (is_new) added->second.counted = now;
    found = added;
  }
  Refill(now, &found->second);
  return found->second;
}

bool Throttle::MayTry(const std::string& peer) {
  base::MutexLock lock(mutex_);
  // Those who have not failed take no memory.
  if (addresses_.empty()) return true;
  const auto found = addresses_.find(base::AddressOf(peer));
  if (found == addresses_.end()) return true;
  Refill(clock_.Monotonic(), &found->second);
  return found->second.failures_left >= 1;
}

bool Throttle::Fail(const std::string& peer, int64_t* num_left_out) {
  base::MutexLock lock(mutex_);
  Address& address = Find(peer);
  if (address.failures_left < 1) {
    ++address.num_left_out;
    return false;
  }
  address.failures_left -= 1;
  *num_left_out = std::exchange(address.num_left_out, 0);
  return true;
}

}  // namespace ordo::services::auth
