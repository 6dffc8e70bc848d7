#include "base/units/units.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(HumanDurationTest, KeepsTwoParts) {
  EXPECT_EQ(HumanDuration(absl::ZeroDuration()), "0s");
  EXPECT_EQ(HumanDuration(absl::Microseconds(1)), "1ms");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(12)), "12ms");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(4'210)), "4.2s");
  EXPECT_EQ(HumanDuration(absl::Seconds(42)), "42s");
  EXPECT_EQ(HumanDuration(absl::Seconds(200)), "3m20s");
  EXPECT_EQ(HumanDuration(absl::Minutes(125)), "2h05m");
  EXPECT_EQ(HumanDuration(absl::Hours(76)), "3d04h");
  EXPECT_EQ(HumanDuration(-absl::Seconds(42)), "-42s");
  EXPECT_EQ(HumanDuration(absl::InfiniteDuration()), "-");
}

TEST(HumanDurationTest, RoundsIntoTheNextUnit) {
  EXPECT_EQ(HumanDuration(absl::Milliseconds(999.7)), "1.0s");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(9'970)), "10s");
  EXPECT_EQ(HumanDuration(absl::Milliseconds(59'700)), "1m00s");
}

TEST(HumanBytesTest, UsesPowersOf1024) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1536), "1.5 KiB");
  EXPECT_EQ(HumanBytes(uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
}

TEST(HumanCountTest, UsesPowersOf1000) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(950), "950");
  EXPECT_EQ(HumanCount(12'345), "12.3k");
  EXPECT_EQ(HumanCount(154.89e6), "154.9M");
  EXPECT_EQ(HumanCount(999'990), "1.0M");
  EXPECT_EQ(HumanCount(-1500), "-1.5k");
}

}  // namespace
}  // namespace ordo::base
