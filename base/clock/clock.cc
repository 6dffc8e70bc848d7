#include "base/clock/clock.h"

#include <chrono>

#include "absl/time/clock.h"

namespace ordo::base {

absl::Time RealClock::Now() const { return absl::Now(); }

absl::Duration RealClock::Monotonic() const {
  return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace ordo::base
