#ifndef ORDO_BASE_CLOCK_TESTING_FAKE_CLOCK_H_
#define ORDO_BASE_CLOCK_TESTING_FAKE_CLOCK_H_

#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"

namespace ordo::base::testing {

// A clock that stands still until the test moves it. Thread-safe.
class FakeClock : public Clock {
 public:
  explicit FakeClock(absl::Time now = absl::FromUnixSeconds(1'700'000'000))
      : now_(now) {}

  absl::Time Now() const override;
  absl::Duration Monotonic() const override;

  // Moves both clocks on. `duration` is not negative.
  void Advance(absl::Duration duration);

  // Sets the wall clock alone, as an administrator or NTP does.
  void JumpTo(absl::Time now);

 private:
  mutable Mutex mutex_;
  absl::Time now_ ORDO_GUARDED_BY(mutex_);
  absl::Duration monotonic_ ORDO_GUARDED_BY(mutex_) = absl::Seconds(1);
};

}  // namespace ordo::base::testing

#endif  // ORDO_BASE_CLOCK_TESTING_FAKE_CLOCK_H_
