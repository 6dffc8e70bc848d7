#include "base/clock/testing/fake_clock.h"

#include "base/check.h"

namespace ordo::base::testing {

absl::Time FakeClock::Now() const {
  MutexLock lock(mutex_);
  return now_;
}

absl::Duration FakeClock::Monotonic() const {
  MutexLock lock(mutex_);
  return monotonic_;
}

void FakeClock::Advance(absl::Duration duration) {
  ORDO_CHECK(duration >= absl::ZeroDuration()) << "time goes on";
  MutexLock lock(mutex_);
  now_ += duration;
  monotonic_ += duration;
}

void FakeClock::JumpTo(absl::Time now) {
  MutexLock lock(mutex_);
  now_ = now;
}

}  // namespace ordo::base::testing
