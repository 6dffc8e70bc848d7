#include "services/cli/times.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'700'000'000);

absl::StatusOr<absl::Time> Back(const std::string& text) {
  return ParseTime("since", text, kNow, Direction::kBack);
}
absl::StatusOr<absl::Time> Ahead(const std::string& text) {
  return ParseTime("at", text, kNow, Direction::kAhead);
}

TEST(TimesTest, DurationCountsFromNow) {
  EXPECT_EQ(*Back("1h30m"), kNow - absl::Minutes(90));
  EXPECT_EQ(*Ahead("1h30m"), kNow + absl::Minutes(90));
  EXPECT_EQ(*Back("7d"), kNow - absl::Hours(7 * 24));
  EXPECT_EQ(*Ahead("1d12h"), kNow + absl::Hours(36));
  EXPECT_EQ(*Ahead("0"), kNow);
}

TEST(TimesTest, TimeWithAZoneIsThatTime) {
  EXPECT_EQ(*Ahead("2023-11-14T22:13:20Z"), kNow);
  EXPECT_EQ(*Back("2023-11-14T23:13:20+01:00"), kNow);
}

TEST(TimesTest, TimeWithoutAZoneIsLocal) {
  const absl::Time local = absl::FromCivil(
      absl::CivilSecond(2026, 11, 22, 10, 0, 0), absl::LocalTimeZone());
  EXPECT_EQ(*Ahead("2026-11-22 10:00"), local);
  EXPECT_EQ(*Ahead("2026-11-22T10:00"), local);
  EXPECT_EQ(*Ahead("2026-11-22 10:00:05"), local + absl::Seconds(5));
  EXPECT_EQ(*Ahead("2026-11-22"), absl::FromCivil(absl::CivilDay(2026, 11, 22),
                                                  absl::LocalTimeZone()));
}

TEST(TimesTest, WhatIsNoTimeIsRefusedByItsOption) {
  for (const char* text : {"", "soon", "-1h", "inf", "5", "d", "-3d",
                           "infinite-future", "2026-13-01", "10:00"}) {
    const auto time = Ahead(text);
    EXPECT_THAT(time, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
    EXPECT_THAT(std::string(time.status().message()), HasSubstr("--at "));
  }
}

}  // namespace
}  // namespace ordo::services::cli
