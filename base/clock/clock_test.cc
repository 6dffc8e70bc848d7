#include "base/clock/clock.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(RealClockTest, MonotonicTimeNeverGoesBack) {
  const RealClock clock;
  absl::Duration previous = clock.Monotonic();
  for (int i = 0; i < 1000; ++i) {
    const absl::Duration now = clock.Monotonic();
    ASSERT_GE(now, previous);
    previous = now;
  }
}

TEST(RealClockTest, WallTimeIsOfThisCentury) {
  const absl::Time now = RealClock().Now();
  EXPECT_GT(now, absl::FromUnixSeconds(1'600'000'000));
  EXPECT_LT(now, absl::FromUnixSeconds(4'100'000'000));
}

}  // namespace
}  // namespace ordo::base
