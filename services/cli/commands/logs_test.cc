#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using LogsTest = testing::CliTest;

TEST_F(LogsTest, PrintsTheLogAsItStands) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.AppendLog("a", "first line\nsecond\n");
  EXPECT_EQ(Run({"logs", "a"}), 0);
  EXPECT_EQ(out(), "first line\nsecond\n");
}

TEST_F(LogsTest, MetricsStandInThePlaceOfTheLog) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.AppendLog("a", "a log\n");
  scheduler_.AppendMetrics("a", "{\"step\":1,\"loss\":2.5}\n");
  EXPECT_EQ(Run({"logs", "a", "--metrics"}), 0);
  EXPECT_EQ(out(), "{\"step\":1,\"loss\":2.5}\n");
}

TEST_F(LogsTest, JsonIsAMessageForEachPiece) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.AppendLog("a", "text");
  EXPECT_EQ(Run({"logs", "a", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"data\":\"dGV4dA==\""));
  EXPECT_EQ(out().find('\n'), out().size() - 1);
}

TEST_F(LogsTest, FollowsUntilTheJobHasEndedOverAnAbsenceOfTheServer) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.AppendLog("a", "one ");
  std::thread other([this] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("a"));
    scheduler_.Leave();
    scheduler_.AppendLog("a", "two\n");
    scheduler_.SetJob("a", Job::SUCCEEDED);
    scheduler_.ComeBack();
  });
  EXPECT_EQ(Run({"logs", "a", "-f"}), 0);
  other.join();
  EXPECT_EQ(out(), "one two\n");
}

TEST_F(LogsTest, InterruptEndsAFollower) {
  scheduler_.SetJob("a", Job::RUNNING);
  std::thread other([this] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("a"));
    interrupt_.Trigger();
  });
  EXPECT_EQ(Run({"logs", "a", "-f"}), 0);
  other.join();
}

TEST_F(LogsTest, UnknownJobAndBadAttemptAreBadInput) {
  EXPECT_EQ(Run({"logs", "a"}), 2);
  EXPECT_EQ(Run({"logs", "a", "--attempt", "0"}), 2);
  EXPECT_THAT(err(), HasSubstr("--attempt takes a whole number from 1"));
}

TEST_F(LogsTest, FollowerRidesOutAnAbsenceOf59Seconds) {
  client_.patience = ClientOptions().patience;
  scheduler_.SetJob("a", Job::RUNNING);
  std::thread other([this] {
    ASSERT_TRUE(scheduler_.WaitForWatcher("a"));
    scheduler_.Leave();
    clock_.Advance(absl::Seconds(59));
    scheduler_.SetJob("a", Job::SUCCEEDED);
    scheduler_.ComeBack();
  });
  EXPECT_EQ(Run({"logs", "a", "-f"}), 0) << err();
  other.join();
}

TEST_F(LogsTest, FollowerGivesUpAfter61Seconds) {
  client_.patience = ClientOptions().patience;
  scheduler_.Leave();
  std::atomic<bool> over = false;
  std::thread other([&] {
    // Also before the follower has begun to count.
    while (!over) clock_.Advance(absl::Seconds(61));
  });
  EXPECT_EQ(Run({"logs", "a", "-f"}), 4);
  over = true;
  other.join();
}

TEST_F(LogsTest, ServerThatStaysAwayIsExitCodeFour) {
  client_.patience = absl::ZeroDuration();
  scheduler_.Leave();
  EXPECT_EQ(Run({"logs", "a", "-f"}), 4);
}

}  // namespace
}  // namespace ordo::services::cli
