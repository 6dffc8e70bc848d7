#include "worker/agent/drain.h"

#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

constexpr absl::Duration kStart = absl::Seconds(100);
constexpr absl::Duration kGrace = absl::Seconds(30);
constexpr Drain::Worker kBusy{false, false};
constexpr Drain::Worker kIdle{true, false};
constexpr Drain::Worker kDone{true, true};

class DrainTest : public ::testing::Test {
 protected:
  DrainTest() { drain_.Begin(kStart, kGrace); }

  Drain drain_;
};

TEST_F(DrainTest, IsOverWhenAllIsDone) {
  EXPECT_FALSE(drain_.IsOver(kStart, kBusy));
  EXPECT_FALSE(drain_.IsOver(kStart, kIdle));
  EXPECT_TRUE(drain_.IsOver(kStart, kDone));
}

TEST_F(DrainTest, LeavesWhatRunsWhenItTakesTooLong) {
  const absl::Duration deadline = kStart + kGrace + Drain::kMargin;
  // A second request does not move it.
  drain_.Begin(kStart + absl::Seconds(10), kGrace);
  EXPECT_FALSE(drain_.IsOver(deadline - absl::Seconds(1), kBusy));
  EXPECT_TRUE(drain_.IsOver(deadline, kBusy));
}

TEST_F(DrainTest, WaitsOnlySoLongForAnAnswer) {
  EXPECT_FALSE(drain_.IsOver(kStart + absl::Seconds(10), kIdle));
  EXPECT_FALSE(drain_.IsOver(kStart + absl::Seconds(14), kIdle));
  EXPECT_TRUE(drain_.IsOver(kStart + absl::Seconds(15), kIdle));
}

TEST(DrainBeforeItsBeginTest, IsNotOver) {
  Drain drain;
  EXPECT_FALSE(drain.began());
  EXPECT_FALSE(drain.IsOver(kStart, kDone));
}

}  // namespace
}  // namespace ordo::worker::agent
