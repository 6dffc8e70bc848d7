#include "scheduler/core/wall_history.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;

// A machine whose clocks a test moves.
class WallHistoryTest : public ::testing::Test {
 protected:
  void Pass(absl::Duration duration) {
    now_.wall += duration;
    now_.monotonic += duration;
  }
  void Set(absl::Duration change) { now_.wall += change; }
  absl::Duration At(absl::Time time) const {
    return history_.MonotonicAt(time, now_);
  }

  Moment now_{absl::FromUnixSeconds(1'700'000'000), absl::Hours(5)};
  WallHistory history_;
};

TEST_F(WallHistoryTest, ATimeIsOfTheSettingThatWasThen) {
  history_.Note(now_);
  Pass(absl::Minutes(10));
  const Moment first = now_;
  Pass(absl::Minutes(10));
  Set(absl::Hours(3));
  EXPECT_TRUE(history_.Note(now_));
  Pass(absl::Minutes(10));
  const Moment second = now_;
  Pass(absl::Minutes(10));
  Set(-absl::Hours(100));
  EXPECT_TRUE(history_.Note(now_));
  EXPECT_EQ(At(first.wall), first.monotonic);
  EXPECT_EQ(At(second.wall), second.monotonic);
  EXPECT_EQ(At(now_.wall), now_.monotonic);
}

TEST_F(WallHistoryTest, OfTwoMomentsItIsTheLast) {
  history_.Note(now_);
  Pass(absl::Hours(2));
  Set(-absl::Hours(1));
  history_.Note(now_);
  Pass(absl::Minutes(10));
  const Moment again = now_;
  Pass(absl::Hours(1));
  EXPECT_EQ(At(again.wall), again.monotonic);
}

TEST_F(WallHistoryTest, OfAnotherBootTheWallClockTells) {
  EXPECT_EQ(At(now_.wall - absl::Hours(50)), now_.monotonic - absl::Hours(50));
  EXPECT_EQ(At(now_.wall + absl::Hours(50)), now_.monotonic);
  history_.Note(now_);
  EXPECT_EQ(At(now_.wall - absl::Hours(50)), now_.monotonic - absl::Hours(50));
}

TEST_F(WallHistoryTest, ABootWithAWrongClockMovesNothingFromBeforeIt) {
  const absl::Time before = now_.wall - absl::Hours(50);
  for (const absl::Duration wrong : {-absl::Hours(1000), absl::Hours(1000)}) {
    Set(wrong);
    history_ = {};
    history_.Note(now_);
    Pass(absl::Minutes(1));
    Set(-wrong);
    history_.Note(now_);
    EXPECT_EQ(At(before), now_.monotonic - (now_.wall - before)) << wrong;
  }
}

TEST_F(WallHistoryTest, BeforeTheClockWasSeenItsFirstSettingCounts) {
  const Moment unseen = now_;
  Pass(absl::Hours(1));
  history_.Note(now_);
  Set(absl::Hours(1000));
  history_.Note(now_);
  EXPECT_EQ(At(unseen.wall), unseen.monotonic);
}

TEST_F(WallHistoryTest, ClocksThatWereReadOneAfterTheOtherAreNotSet) {
  EXPECT_TRUE(history_.Note(now_));
  Set(absl::Milliseconds(50));
  EXPECT_FALSE(history_.Note(now_));
}

TEST_F(WallHistoryTest, ARowIsOfItsBoot) {
  history_.Note(now_);
  const Moment then = now_;
  Set(absl::Hours(3));
  WallHistory same;
  ORDO_ASSERT_OK(same.Take(*history_.ToRow("one"), "one"));
  EXPECT_FALSE(same.Note(then));
  WallHistory other;
  ORDO_ASSERT_OK(other.Take(*history_.ToRow("one"), "two"));
  EXPECT_TRUE(other.Note(then));
  EXPECT_THAT(other.Take(Row{Row::Kind::kClock, "wall", "\xff"}, "two"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(WallHistoryTest, AClockThatIsSetForEverTakesNoMoreRoom) {
  for (size_t i = 0; i < 3 * kMaxClockSettings; ++i) {
    Set(absl::Hours(1));
    history_.Note(now_);
  }
  const size_t size = history_.ToRow("one")->bytes->size();
  Set(absl::Hours(1));
  history_.Note(now_);
  EXPECT_LE(history_.ToRow("one")->bytes->size(), size + 2);
}

}  // namespace
}  // namespace ordo::scheduler::core
