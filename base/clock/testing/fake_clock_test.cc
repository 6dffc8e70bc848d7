#include "base/clock/testing/fake_clock.h"

#include "gtest/gtest.h"

namespace ordo::base::testing {
namespace {

TEST(FakeClockTest, StandsStillUntilMoved) {
  FakeClock clock(absl::FromUnixSeconds(100));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(100));
  EXPECT_EQ(clock.Monotonic(), clock.Monotonic());
}

TEST(FakeClockTest, AdvanceMovesBothClocks) {
  FakeClock clock(absl::FromUnixSeconds(100));
  const absl::Duration before = clock.Monotonic();
  clock.Advance(absl::Seconds(5));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(105));
  EXPECT_EQ(clock.Monotonic() - before, absl::Seconds(5));
}

TEST(FakeClockTest, AJumpOfTheWallClockLeavesMonotonicTimeAlone) {
  FakeClock clock(absl::FromUnixSeconds(100));
  const absl::Duration before = clock.Monotonic();
  clock.JumpTo(absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.Now(), absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.Monotonic(), before);
}

}  // namespace
}  // namespace ordo::base::testing
