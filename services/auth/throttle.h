#ifndef ORDO_SERVICES_AUTH_THROTTLE_H_
#define ORDO_SERVICES_AUTH_THROTTLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"

namespace ordo::services::auth {

// Failures to log in that an address may have at once, and how often it may
// have one more.
inline constexpr int kFailureBurst = 20;
inline constexpr absl::Duration kFailurePeriod = absl::Seconds(1);
// Addresses that are told apart at a time; further ones share one share.
inline constexpr size_t kMaxAddresses = 4096;

// Slows down those who try to log in and fail, by address. Thread-safe.
class Throttle {
 public:
  // `clock` outlives this.
  explicit Throttle(const base::Clock& clock) : clock_(clock) {}

  // Whether what was refused from here may be tried again yet.
  bool MayTry(const std::string& peer);
  // Counts a failure; whether it is within what an address may have. The number
  // of those before it that were not goes to `num_left_out`, once.
  bool Fail(const std::string& peer, int64_t* num_left_out);

 private:
  struct Address {
    double failures_left = kFailureBurst;
    absl::Duration counted;
    int64_t num_left_out = 0;
  };

  Address& Find(const std::string& peer) ORDO_REQUIRES(mutex_);
  void Refill(absl::Duration now, Address* address) const;

  const base::Clock& clock_;
  base::Mutex mutex_;
  std::map<std::string, Address> addresses_ ORDO_GUARDED_BY(mutex_);
  absl::Duration swept_ ORDO_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_THROTTLE_H_
