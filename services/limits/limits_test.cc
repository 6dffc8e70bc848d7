#include "services/limits/limits.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::limits {
namespace {

using base::testing::StatusIs;
using ::testing::HasSubstr;

constexpr absl::StatusCode kExhausted = absl::StatusCode::kResourceExhausted;

LimitsOptions Small() {
  LimitsOptions options;
  options.calls_per_second = 2;
  options.burst_seconds = 2;
  options.streams_per_user = 2;
  options.streams = 3;
  return options;
}

class LimitsTest : public ::testing::Test {
 protected:
  base::Caller Of(const std::string& user) {
    return {user, "ipv4:127.0.0.1:5"};
  }
  // How many calls `user` can make now.
  int CountCalls(const std::string& user) {
    int count = 0;
    while (limits_.TakeCalls(Of(user)).ok()) ++count;
    return count;
  }

  base::testing::FakeClock clock_;
  Limits limits_{Small(), clock_};
};

TEST_F(LimitsTest, CallsBeyondTheBurstAreRefusedByTheLimitsName) {
  EXPECT_EQ(CountCalls("ada"), 4);
  const absl::Status refused = limits_.TakeCalls(Of("ada"));
  EXPECT_THAT(refused, StatusIs(kExhausted));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("calls_per_second"));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("ada"));
}

TEST_F(LimitsTest, WhatABatchTookBeyondTheBurstIsWaitedOff) {
  EXPECT_TRUE(limits_.TakeCalls(Of("ada"), 24).ok());
  EXPECT_THAT(std::string(limits_.TakeCalls(Of("ada")).message()),
              HasSubstr("the next is taken in 11s"));
  clock_.Advance(absl::Seconds(10));
  EXPECT_FALSE(limits_.TakeCalls(Of("ada")).ok());
  clock_.Advance(absl::Seconds(1));
  EXPECT_TRUE(limits_.TakeCalls(Of("ada")).ok());
}

TEST_F(LimitsTest, TimeGivesCallsBack) {
  CountCalls("ada");
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(CountCalls("ada"), 2);
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(CountCalls("ada"), 4);
}

TEST_F(LimitsTest, UsersDoNotHinderEachOther) {
  CountCalls("ada");
  EXPECT_EQ(CountCalls("bob"), 4);
  EXPECT_EQ(CountCalls(""), 4);
}

TEST_F(LimitsTest, LargeBatchBeginsAndIsPaidForAfterwards) {
  ORDO_EXPECT_OK(limits_.TakeCalls(Of("ada"), 10));
  EXPECT_THAT(limits_.TakeCalls(Of("ada")), StatusIs(kExhausted));
  clock_.Advance(absl::Seconds(3));
  EXPECT_THAT(limits_.TakeCalls(Of("ada")), StatusIs(kExhausted));
  clock_.Advance(absl::Seconds(1));
  ORDO_EXPECT_OK(limits_.TakeCalls(Of("ada")));
}

TEST_F(LimitsTest, WhatACallAsksForBesideIsWaitedOff) {
  ORDO_EXPECT_OK(limits_.TakeCalls(Of("ada")));
  limits_.AddCalls(Of("ada"), 9);
  EXPECT_THAT(limits_.TakeCalls(Of("ada")), StatusIs(kExhausted));
  clock_.Advance(absl::Seconds(3));
  EXPECT_THAT(limits_.TakeCalls(Of("ada")), StatusIs(kExhausted));
  clock_.Advance(absl::Seconds(1));
  ORDO_EXPECT_OK(limits_.TakeCalls(Of("ada")));
}

TEST_F(LimitsTest, FiftyBatchesOfAThousandASecondAreWithinTheDefault) {
  Limits limits(LimitsOptions(), clock_);
  constexpr int kBatchesPerSecond = 50;
  for (int i = 0; i < 60 * kBatchesPerSecond; ++i) {
    ORDO_ASSERT_OK(limits.TakeCalls(Of("ada"), 1000));
    clock_.Advance(absl::Seconds(1) / kBatchesPerSecond);
  }
}

TEST_F(LimitsTest, WithoutALimitNobodyIsRefused) {
  LimitsOptions options;
  options.calls_per_second = 0;
  Limits limits(options, clock_);
  ORDO_EXPECT_OK(limits.TakeCalls(Of("ada"), 1'000'000));
  limits.AddCalls(Of("ada"), 1'000'000);
  ORDO_EXPECT_OK(limits.TakeCalls(Of("ada"), 1'000'000));
}

TEST_F(LimitsTest, StreamsOfAUserAreLimited) {
  const auto first = limits_.Open(Of("ada"));
  ORDO_ASSERT_OK(first);
  auto second = limits_.Open(Of("ada"));
  ORDO_ASSERT_OK(second);
  const auto third = limits_.Open(Of("ada"));
  EXPECT_THAT(third, StatusIs(kExhausted));
  EXPECT_THAT(std::string(third.status().message()),
              HasSubstr("streams_per_user"));
  second->reset();
  ORDO_EXPECT_OK(limits_.Open(Of("ada")));
}

TEST_F(LimitsTest, StreamsOfAllAreLimited) {
  std::vector<OpenStream> open;
  for (const char* user : {"ada", "bob", "eve"}) {
    const auto stream = limits_.Open(Of(user));
    ORDO_ASSERT_OK(stream);
    open.push_back(*stream);
  }
  EXPECT_EQ(limits_.num_streams(), 3);
  const auto refused = limits_.Open(Of("dan"));
  EXPECT_THAT(refused, StatusIs(kExhausted));
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("limit streams of"));
  open.clear();
  EXPECT_EQ(limits_.num_streams(), 0);
}

TEST_F(LimitsTest, StreamsCountAsCalls) {
  CountCalls("ada");
  EXPECT_THAT(limits_.Open(Of("ada")), StatusIs(kExhausted));
  EXPECT_EQ(limits_.num_streams(), 0);
}

TEST_F(LimitsTest, ManyNamesShareOneShare) {
  for (size_t i = 0; i < kMaxUsers; ++i) {
    ORDO_ASSERT_OK(limits_.TakeCalls(Of(absl::StrCat("user", i))));
  }
  EXPECT_EQ(CountCalls("one-more"), 4);
  EXPECT_EQ(CountCalls("another"), 0);
  // Those that have been idle are forgotten.
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(CountCalls("another"), 4);
  EXPECT_EQ(CountCalls("one-more"), 4);
}

}  // namespace
}  // namespace ordo::services::limits
