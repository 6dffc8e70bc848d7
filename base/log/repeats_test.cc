#include "base/log/repeats.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

int NumShown(Repeats& repeats, const std::string& line, int times,
             absl::Duration now) {
  int shown = 0;
  for (int i = 0; i < times; ++i) shown += repeats.IsShown(line, now) ? 1 : 0;
  return shown;
}

TEST(RepeatsTest, TheSameLineIsShownSoOftenAndThenCounted) {
  Repeats repeats;
  const absl::Duration start = absl::Hours(1);
  EXPECT_EQ(NumShown(repeats, "a", 100, start), Repeats::kMaxShown);
  EXPECT_EQ(NumShown(repeats, "b", 3, start), 3);
  EXPECT_THAT(repeats.TakeOver(start), IsEmpty());
  const auto over = repeats.TakeOver(start + Repeats::kPeriod);
  ASSERT_THAT(over, SizeIs(1));
  EXPECT_EQ(over[0].line, "a");
  EXPECT_EQ(over[0].count, 100 - Repeats::kMaxShown);
  EXPECT_EQ(repeats.num_held_back(), 100 - Repeats::kMaxShown);
  EXPECT_THAT(repeats.TakeOver(start + Repeats::kPeriod), IsEmpty());
}

TEST(RepeatsTest, AfterItsTimeALineIsShownAgain) {
  Repeats repeats;
  const absl::Duration start = absl::Hours(1);
  NumShown(repeats, "a", 100, start);
  EXPECT_EQ(NumShown(repeats, "a", 100, start + Repeats::kPeriod),
            Repeats::kMaxShown);
  EXPECT_THAT(repeats.TakeOver(start + Repeats::kPeriod), SizeIs(1));
}

TEST(RepeatsTest, OfManyLinesTheOldestAreForgottenAndTold) {
  Repeats repeats;
  const absl::Duration start = absl::Hours(1);
  NumShown(repeats, "a", 100, start);
  for (size_t i = 0; i < Repeats::kMaxLines; ++i) {
    EXPECT_TRUE(repeats.IsShown("line " + std::to_string(i), start));
  }
  const auto over = repeats.TakeOver(start);
  ASSERT_THAT(over, SizeIs(1));
  EXPECT_EQ(over[0].line, "a");
}

}  // namespace
}  // namespace ordo::base
