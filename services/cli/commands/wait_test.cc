#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using WaitTest = testing::CliTest;

TEST_F(WaitTest, ExitCodeTellsHowJobsEnded) {
  scheduler_.SetJob("good", Job::SUCCEEDED);
  scheduler_.SetJob("bad", Job::FAILED,
                    [](Job* job) { job->set_message("the loss is NaN"); });
  scheduler_.SetJob("gone", Job::CANCELLED);
  EXPECT_EQ(Run({"wait", "good"}), 0);
  EXPECT_EQ(out(), "good SUCCEEDED\n");
  EXPECT_EQ(Run({"wait", "good", "bad"}), 1);
  EXPECT_EQ(out(), "good SUCCEEDED\nbad FAILED  the loss is NaN\n");
  EXPECT_EQ(Run({"wait", "good", "gone"}), 3);
  EXPECT_EQ(Run({"wait", "bad", "gone"}), 1);
}

TEST_F(WaitTest, AGateSaysItsVerdictAndIsNoFailure) {
  scheduler_.SetJob("g", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::GATE);
    job->set_message("Verdict: fail.");
  });
  EXPECT_EQ(Run({"wait", "g"}), 0);
  EXPECT_EQ(out(), "g SUCCEEDED  Verdict: fail.\n");
}

TEST_F(WaitTest, AnArchivedJobEndsTheWaitWithItsCode) {
  scheduler_.ArchiveJob("good", Job::SUCCEEDED);
  scheduler_.ArchiveJob("bad", Job::FAILED);
  EXPECT_EQ(Run({"wait", "good"}), 0) << err();
  EXPECT_EQ(out(), "good SUCCEEDED\n");
  EXPECT_EQ(Run({"wait", "good", "bad"}), 1) << err();
  EXPECT_THAT(out(), HasSubstr("bad FAILED  it was archived"));
}

TEST_F(WaitTest, TimeoutIsExitCodeFive) {
  scheduler_.SetJob("a", Job::RUNNING);
  EXPECT_EQ(Run({"wait", "a", "--timeout", "10ms"}), 5);
  EXPECT_EQ(out(), "a\n");
  EXPECT_THAT(err(), HasSubstr("the time is up; still going: a (come back "
                               "with: ordo watch a)"));
}

TEST_F(WaitTest, TimeoutZeroLooksOnceAndSaysHowItStands) {
  scheduler_.SetJob("good", Job::SUCCEEDED);
  scheduler_.SetJob("bad", Job::FAILED);
  scheduler_.SetJob("a", Job::RUNNING);
  EXPECT_EQ(Run({"wait", "good", "--timeout", "0"}), 0) << err();
  EXPECT_EQ(out(), "good SUCCEEDED\n");
  EXPECT_EQ(Run({"wait", "bad", "--timeout", "0"}), 1);
  EXPECT_EQ(Run({"wait", "good", "a", "--timeout", "0"}), 5);
  EXPECT_EQ(out(), "a\n");
  EXPECT_THAT(err(), HasSubstr("the time is up; still going: a"));
}

TEST_F(WaitTest, SeveralJobsAreWaitedForUnderALowLimitOfCalls) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.SetJob("b", Job::SUCCEEDED);
  scheduler_.RefuseWatches(2, "more than 1 call a second");
  EXPECT_EQ(Run({"wait", "a", "b"}), 0) << err();
}

TEST_F(WaitTest, JsonHasARecordOfEachJobAlsoWhenTheTimeIsUp) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  scheduler_.SetJob("b", Job::RUNNING);
  EXPECT_EQ(Run({"wait", "a", "b", "--timeout", "500ms", "-o", "json"}), 5);
  EXPECT_THAT(out(), ::testing::MatchesRegex("[{]\"name\":\"jobs/a\",.*\n"
                                             "[{]\"name\":\"jobs/b\",.*\n"));
}

TEST_F(WaitTest, BadTimeoutIsBadInput) {
  EXPECT_EQ(Run({"wait", "a", "--timeout", "10"}), 2);
  EXPECT_THAT(err(), HasSubstr("--timeout takes a duration"));
}

TEST_F(WaitTest, ServerThatStaysAwayIsExitCodeFour) {
  client_.patience = absl::ZeroDuration();
  scheduler_.Leave();
  EXPECT_EQ(Run({"wait", "a"}), 4);
}

TEST_F(WaitTest, PrintsTheJobForPrograms) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  EXPECT_EQ(Run({"wait", "a", "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"state\":\"SUCCEEDED\""));
}

}  // namespace
}  // namespace ordo::services::cli
