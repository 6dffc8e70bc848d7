#include "base/units/proto_time.h"

#include "gtest/gtest.h"

namespace ordo::base {
namespace {

TEST(ProtoTimeTest, ATimeComesBackToTheNanosecond) {
  const absl::Time time =
      absl::FromUnixSeconds(1'700'000'000) + absl::Nanoseconds(123'456'789);
  const google::protobuf::Timestamp timestamp = ToTimestamp(time);
  EXPECT_EQ(timestamp.seconds(), 1'700'000'000);
  EXPECT_EQ(timestamp.nanos(), 123'456'789);
  EXPECT_EQ(ToTime(timestamp), time);
}

TEST(ProtoTimeTest, BeforeTheEpochNanosecondsStillCountForward) {
  const absl::Time time = absl::UnixEpoch() - absl::Milliseconds(1);
  const google::protobuf::Timestamp timestamp = ToTimestamp(time);
  EXPECT_EQ(timestamp.seconds(), -1);
  EXPECT_EQ(timestamp.nanos(), 999'000'000);
  EXPECT_EQ(ToTime(timestamp), time);
}

TEST(ProtoTimeTest, TheLastTimeOfATimestampComesBack) {
  const absl::Time time =
      absl::FromCivil(absl::CivilSecond(9999, 12, 31, 23, 59, 59),
                      absl::UTCTimeZone()) +
      absl::Nanoseconds(999'999'999);
  EXPECT_EQ(ToTime(ToTimestamp(time)), time);
}

TEST(ProtoTimeTest, ADurationComesBackWithItsSign) {
  for (const absl::Duration duration :
       {absl::ZeroDuration(), absl::Milliseconds(1500),
        -absl::Milliseconds(1500), absl::Hours(24)}) {
    EXPECT_EQ(ToDuration(ToProtoDuration(duration)), duration);
  }
  EXPECT_EQ(ToProtoDuration(-absl::Milliseconds(1500)).seconds(), -1);
  EXPECT_EQ(ToProtoDuration(-absl::Milliseconds(1500)).nanos(), -500'000'000);
}

}  // namespace
}  // namespace ordo::base
