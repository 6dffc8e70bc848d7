#include "worker/agent/announce_schedule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

constexpr absl::Duration kNow = absl::Seconds(100);

class AnnounceScheduleTest : public ::testing::Test {
 protected:
  void SendAndAnswer(absl::Duration period) {
    schedule_.Sent(kNow);
    schedule_.Answered(period);
  }

  AnnounceSchedule schedule_{"w"};
};

TEST_F(AnnounceScheduleTest, FirstIsDueAtOnce) {
  EXPECT_LE(schedule_.TimeLeft(kNow, News::kNone), absl::ZeroDuration());
}

TEST_F(AnnounceScheduleTest, NothingIsDueWhileOneIsUnderWay) {
  schedule_.Sent(kNow);
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kUrgent), absl::InfiniteDuration());
}

TEST_F(AnnounceScheduleTest, WithoutNewsItWaitsForThePeriod) {
  SendAndAnswer(absl::Seconds(3));
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kNone), absl::Seconds(3));
  EXPECT_EQ(schedule_.TimeLeft(kNow + absl::Seconds(3), News::kNone),
            absl::ZeroDuration());
}

TEST_F(AnnounceScheduleTest, UrgentNewsAreDueAtOnceAndStepsSoon) {
  SendAndAnswer(absl::Seconds(3));
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kUrgent), absl::ZeroDuration());
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kSteps),
            AnnounceSchedule::kStepPeriod);
}

TEST_F(AnnounceScheduleTest, StartsAreDueAtOnceUnlessOneWentAMomentAgo) {
  SendAndAnswer(absl::Seconds(3));
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kStarts),
            AnnounceSchedule::kStartPeriod);
  EXPECT_LE(
      schedule_.TimeLeft(kNow + AnnounceSchedule::kStartPeriod, News::kStarts),
      absl::ZeroDuration());
  EXPECT_LE(schedule_.TimeLeft(kNow + absl::Seconds(1), News::kStarts),
            absl::ZeroDuration());
}

TEST_F(AnnounceScheduleTest, ShortPeriodGoesBeforeTheOneOfSteps) {
  SendAndAnswer(absl::Milliseconds(10));
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kSteps), absl::Milliseconds(10));
}

TEST_F(AnnounceScheduleTest, MissingPeriodKeepsTheOneBefore) {
  SendAndAnswer(absl::Seconds(3));
  SendAndAnswer(absl::ZeroDuration());
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kNone), absl::Seconds(3));
}

TEST_F(AnnounceScheduleTest, FailuresHoldBackEvenUrgentNewsUpToASecond) {
  absl::Duration before;
  for (int i = 1; i <= 10; ++i) {
    schedule_.Sent(kNow);
    schedule_.Failed(kNow);
    EXPECT_EQ(schedule_.num_failures(), i);
    const absl::Duration left = schedule_.TimeLeft(kNow, News::kUrgent);
    EXPECT_GT(left, absl::ZeroDuration());
    EXPECT_LE(left, absl::Seconds(1));
    if (i == 1) before = left;
    if (i == 3) {
      EXPECT_GT(left, before);
    }
  }
  SendAndAnswer(absl::Seconds(3));
  EXPECT_EQ(schedule_.num_failures(), 0);
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kUrgent), absl::ZeroDuration());
}

TEST_F(AnnounceScheduleTest, ARefusedWorkerAsksSeldom) {
  schedule_.Sent(kNow);
  schedule_.Refused(kNow);
  EXPECT_EQ(schedule_.num_failures(), 1);
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kUrgent),
            AnnounceSchedule::kRefusedPeriod);
  SendAndAnswer(absl::Seconds(3));
  EXPECT_EQ(schedule_.TimeLeft(kNow, News::kUrgent), absl::ZeroDuration());
}

}  // namespace
}  // namespace ordo::worker::agent
