#include "base/units/duration_text.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

absl::Duration Parsed(const std::string& text) {
  absl::Duration duration;
  EXPECT_TRUE(ParseDurationText(text, &duration)) << text;
  return duration;
}

TEST(DurationTextTest, DaysStandBeforeSmallerUnitsOrAlone) {
  EXPECT_EQ(Parsed("2d"), absl::Hours(48));
  EXPECT_EQ(Parsed("1d12h"), absl::Hours(36));
  EXPECT_EQ(Parsed("1d0.5s"), absl::Hours(24) + absl::Milliseconds(500));
  EXPECT_EQ(Parsed("-1d1h"), -absl::Hours(25));
  EXPECT_EQ(Parsed("1h30m"), absl::Minutes(90));
  EXPECT_EQ(Parsed("0"), absl::ZeroDuration());
}

TEST(DurationTextTest, WhatIsNoDurationIsRefused) {
  for (const char* text :
       {"", "d", "-d", "--1d", "+-1d", "1d-2h", "1dinf", "1.5d", "1d2", "1d2d",
        "12h1d", "99999999999d", " 1d"}) {
    absl::Duration duration;
    EXPECT_FALSE(ParseDurationText(text, &duration)) << text;
  }
}

TEST(DurationTextTest, PrintsWhatItReads) {
  for (const char* text :
       {"0s", "500ms", "9.5s", "1h30m", "2d", "416d15h", "-1d1h"}) {
    EXPECT_EQ(DurationText(Parsed(text)), text);
  }
  EXPECT_EQ(DurationText(absl::Seconds(35'996'400)), "416d15h");
  EXPECT_EQ(DurationText(absl::InfiniteDuration()), "inf");
}

}  // namespace
}  // namespace ordo::base
