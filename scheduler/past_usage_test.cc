#include "scheduler/past_usage.h"

#include <string>

#include "gtest/gtest.h"

namespace ordo::scheduler {
namespace {

using jobs::v1::Attempt;
using usage::v1::PastUsage;
using usage::v1::Usage;

constexpr int64_t kDay = 24 * 60 * 60;

// One that had a device for ten seconds, two of them idle and three lost, with
// forty steps.
Attempt EndedAt(int64_t seconds, const std::string& reason = "HANG") {
  Attempt attempt;
  attempt.mutable_end_time()->set_seconds(seconds);
  attempt.set_reason(reason);
  attempt.set_device_seconds(10);
  attempt.set_idle_device_seconds(2);
  attempt.set_lost_device_seconds(3);
  attempt.set_lost_steps(40);
  return attempt;
}

TEST(PastUsageTest, AttemptsOfADayAreAddedUp) {
  PastUsage past;
  AddAttempt(EndedAt(5 * kDay), &past);
  AddAttempt(EndedAt(6 * kDay - 1, "WORKER_LOST"), &past);
  ASSERT_EQ(past.days_size(), 1);
  EXPECT_EQ(past.days(0).start_time().seconds(), 5 * kDay);
  const Usage& usage = past.days(0).usage();
  EXPECT_EQ(usage.attempts(), 2);
  EXPECT_EQ(usage.used_device_seconds(), 16);
  EXPECT_EQ(usage.idle_device_seconds(), 4);
  EXPECT_EQ(usage.lost_device_seconds(), 6);
  EXPECT_EQ(usage.lost_steps(), 80);
  EXPECT_EQ(usage.lost_device_seconds_by_reason().at("HANG"), 3);
  EXPECT_EQ(usage.lost_device_seconds_by_reason().at("WORKER_LOST"), 3);
  EXPECT_EQ(usage.lost_steps_by_reason().at("HANG"), 40);
  EXPECT_EQ(usage.lost_steps_by_reason().at("WORKER_LOST"), 40);
}

TEST(PastUsageTest, AnAttemptThatLostNothingHasNoReason) {
  Attempt attempt = EndedAt(5 * kDay);
  attempt.clear_lost_device_seconds();
  attempt.clear_lost_steps();
  const Usage usage = UsageOf(attempt);
  EXPECT_TRUE(usage.lost_device_seconds_by_reason().empty());
  EXPECT_TRUE(usage.lost_steps_by_reason().empty());
}

TEST(PastUsageTest, DaysAreInOrderHoweverTheyCome) {
  PastUsage past;
  for (const int64_t day : {7, 3, 5, 3, 9}) {
    AddAttempt(EndedAt(day * kDay + 1), &past);
  }
  ASSERT_EQ(past.days_size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(past.days(i).start_time().seconds(), (3 + 2 * i) * kDay);
    EXPECT_EQ(past.days(i).usage().attempts(), i == 0 ? 2 : 1);
  }
}

TEST(PastUsageTest, DaysOfTwoAreAddedDayByDay) {
  PastUsage past;
  AddAttempt(EndedAt(3 * kDay), &past);
  PastUsage more;
  AddAttempt(EndedAt(3 * kDay), &more);
  AddAttempt(EndedAt(2 * kDay), &more);
  AddDays(more, &past);
  ASSERT_EQ(past.days_size(), 2);
  EXPECT_EQ(past.days(0).usage().attempts(), 1);
  EXPECT_EQ(past.days(1).usage().attempts(), 2);
}

TEST(PastUsageTest, TheOldestDaysBecomeOne) {
  PastUsage past;
  for (int day = 1; day <= 5; ++day) AddAttempt(EndedAt(day * kDay), &past);
  FoldDays(5, &past);
  EXPECT_EQ(past.days_size(), 5);
  FoldDays(2, &past);
  ASSERT_EQ(past.days_size(), 2);
  EXPECT_EQ(past.days(0).start_time().seconds(), 4 * kDay);
  EXPECT_EQ(past.days(0).usage().attempts(), 4);
  EXPECT_EQ(past.days(0).usage().used_device_seconds(), 32);
  EXPECT_EQ(past.days(0).usage().lost_steps_by_reason().at("HANG"), 160);
  EXPECT_EQ(past.days(1).usage().attempts(), 1);
}

}  // namespace
}  // namespace ordo::scheduler
