#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using CancelTest = testing::CliTest;

TEST_F(CancelTest, CancelsEachJobThoseThatCouldStartFirst) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.SetJob("s", Job::QUEUED,
                    [](Job* job) { job->add_parts("jobs/s-0"); });
  scheduler_.SetJob("b", Job::QUEUED);
  EXPECT_EQ(Run({"cancel", "a", "s", "jobs/b"}), 0);
  EXPECT_EQ(out(), "b CANCELLED\na CANCELLED\ns CANCELLED\n");
  EXPECT_EQ(scheduler_.GetJob("a").state(), Job::CANCELLED);
}

TEST_F(CancelTest, CancelWhoseAnswerWasLostHasCancelled) {
  client_.retry_for = absl::Seconds(20);
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.LoseAnswers(1);
  EXPECT_EQ(Run({"cancel", "a"}), 0) << err();
  EXPECT_EQ(out(), "a CANCELLED\n");
  // Without a lost answer somebody else's cancel is no success of ours.
  EXPECT_EQ(Run({"cancel", "a"}), 2);
}

TEST_F(CancelTest, EndedJobIsBadInput) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  EXPECT_EQ(Run({"cancel", "a"}), 2);
  EXPECT_EQ(err(), "ordo: jobs/a has ended\n");
}

TEST_F(CancelTest, OneThatCannotBeCancelledKeepsNoneOfTheOthersFromIt) {
  scheduler_.SetJob("a", Job::RUNNING);
  scheduler_.SetJob("b", Job::SUCCEEDED);
  EXPECT_EQ(Run({"cancel", "nosuch", "b", "a"}), 2);
  EXPECT_EQ(scheduler_.GetJob("a").state(), Job::CANCELLED);
  EXPECT_EQ(out(), "a CANCELLED\n");
  EXPECT_THAT(err(), HasSubstr("nosuch"));
  EXPECT_THAT(err(), HasSubstr("jobs/b has ended"));
}

TEST_F(CancelTest, WithTheSchedulerAwayTheRestIsNotTried) {
  scheduler_.Leave();
  EXPECT_EQ(Run({"cancel", "a", "b", "c"}), 4);
  EXPECT_THAT(err(), HasSubstr("; not done: a b c"));
}

}  // namespace
}  // namespace ordo::services::cli
