#include "services/spec/durations.h"

#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

google::protobuf::Duration Of(int64_t seconds, int32_t nanos = 0) {
  google::protobuf::Duration duration;
  duration.set_seconds(seconds);
  duration.set_nanos(nanos);
  return duration;
}

TEST(DurationsTest, BothEndsOfTheRangeAreValid) {
  std::vector<base::FieldViolation> violations;
  EXPECT_TRUE(CheckDuration({"limit"}, Of(1), &violations));
  EXPECT_TRUE(CheckDuration({"limit"}, Of(kMaxTimeLimitSeconds), &violations));
  EXPECT_TRUE(violations.empty());
}

TEST(DurationsTest, WhatIsOutsideOrNoDurationIsNamed) {
  for (const auto& duration :
       {Of(0), Of(-5), Of(0, 999'999'999), Of(kMaxTimeLimitSeconds, 1),
        Of(5, -1), Of(5, 1'000'000'000)}) {
    std::vector<base::FieldViolation> violations;
    EXPECT_FALSE(CheckDuration({"limit"}, duration, &violations));
    ASSERT_EQ(violations.size(), 1u);
    EXPECT_EQ(violations[0].field, "limit");
  }
}

TEST(DurationsTest, MessageSaysTheRangeAndTheValue) {
  std::vector<base::FieldViolation> violations;
  EXPECT_FALSE(CheckDuration({"limit", 2, 9, "2s..9s"}, Of(9, 7), &violations));
  EXPECT_EQ(violations[0].description, "must be 2s..9s, is 9.000000007s");
  EXPECT_FALSE(CheckDuration({"limit"}, Of(35'996'400), &violations));
  EXPECT_EQ(violations[1].description, "must be 1s..366 days, is 416d15h");
}

TEST(DurationsTest, LongerCountsNanoseconds) {
  EXPECT_TRUE(IsLonger(Of(2), Of(1, 9)));
  EXPECT_TRUE(IsLonger(Of(2, 1), Of(2)));
  EXPECT_FALSE(IsLonger(Of(2), Of(2)));
  EXPECT_FALSE(IsLonger(Of(1, 9), Of(2)));
}

}  // namespace
}  // namespace ordo::services::spec
