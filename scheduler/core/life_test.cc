#include "scheduler/core/life.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

class LifeTest : public ::testing::Test {
 protected:
  // One device: jobs run one after the other.
  void SetUp() override {
    ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
    shell_.Ignore();
  }
  void Submit(const std::vector<NewJob>& jobs) {
    ORDO_ASSERT_OK(shell_.Submit(jobs));
    shell_.Ignore();
  }
  void End(const std::string& job, int exit_code) {
    shell_.Observe("w", {AttemptBuilder(job, 1).Running().Exited(exit_code)});
    shell_.Ignore();
  }

  TestShell shell_;
};

TEST_F(LifeTest, AJobStartsWhenAllThatItNeedsHasSucceeded) {
  Submit({JobBuilder("c").Needs("a").Needs("b"), JobBuilder("a"),
          JobBuilder("b")});
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kWaitingForNeeds);
  End("a", 0);
  EXPECT_EQ(shell_.StateOf("c"), Job::QUEUED);
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
  End("b", 0);
  EXPECT_EQ(shell_.StateOf("c"), Job::STARTING);
}

TEST_F(LifeTest, AJobFailsWithWhatItNeedsAndSoDoWhoNeedIt) {
  Submit({JobBuilder("a"), JobBuilder("b").Needs("a"),
          JobBuilder("c").Needs("b"), JobBuilder("d").NeedsEnded("c")});
  End("a", 2);
  EXPECT_EQ(shell_.StateOf("b"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kNeedFailed);
  EXPECT_THAT(shell_.job("b").message(), HasSubstr("job a"));
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kNeedFailed);
  EXPECT_EQ(shell_.StateOf("d"), Job::STARTING);
}

TEST_F(LifeTest, ACancelledJobIsNeededNoMore) {
  Submit({JobBuilder("a"), JobBuilder("b").NeedsEnded("a"),
          JobBuilder("c").Needs("a").Needs("b")});
  ORDO_ASSERT_OK(shell_.CancelJob("b"));
  EXPECT_EQ(shell_.ReasonOf("c"), reason::kNeedFailed);
  End("a", 0);
  EXPECT_EQ(shell_.StateOf("c"), Job::FAILED);
}

TEST_F(LifeTest, WhatIsNeededIsKnownAfterARestart) {
  Submit({JobBuilder("b").Needs("a"), JobBuilder("a")});
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Sequence(5).Runs(
      AttemptBuilder("a", 1).Running().Exited(0))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
}

TEST_F(LifeTest, AJobFailsWhenWhatItNamesLeftNoCheckpoint) {
  Submit({JobBuilder("a"), JobBuilder("b").NeedsEnded("a").StartFrom("jobs/a"),
          JobBuilder("c").NeedsEnded("a").StartFrom("jobs/a").Held()});
  End("a", 2);
  for (const char* job : {"b", "c"}) {
    EXPECT_EQ(shell_.StateOf(job), Job::FAILED);
    EXPECT_EQ(shell_.ReasonOf(job), reason::kNeedFailed);
    EXPECT_THAT(shell_.job(job).message(),
                HasSubstr("job a, whose newest checkpoint it names, has ended "
                          "as FAILED and left no checkpoint"));
  }
}

TEST_F(LifeTest, AJobFailsWhenNothingOfWhatItNamesTheBestWasEvaluated) {
  Submit({JobBuilder("a").EvaluatesItself("held"),
          JobBuilder("b").Needs("a").StartFrom("jobs/a/checkpoints/best")});
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0)});
  shell_.Ignore();
  EXPECT_EQ(shell_.ReasonOf("b"), reason::kNeedFailed);
  EXPECT_THAT(shell_.job("b").message(),
              HasSubstr("job a, whose best checkpoint it names, has ended as "
                        "SUCCEEDED and left no checkpoint that it has "
                        "evaluated; give it evaluations with every_steps"));
}

TEST_F(LifeTest, APartThatFailsTakesAlongThoseAloneThatNeedItsSuccess) {
  Submit({JobBuilder("p-a").PartOf("p"),
          JobBuilder("p-b").PartOf("p").NeedsEnded("p-a"),
          JobBuilder("p-c").PartOf("p").Needs("p-a"),
          JobBuilder("p-d").PartOf("p"),
          JobBuilder("p").Sweeps({"p-a", "p-b", "p-c", "p-d"})});
  End("p-a", 2);
  EXPECT_EQ(shell_.ReasonOf("p-c"), reason::kNeedFailed);
  EXPECT_EQ(shell_.StateOf("p-b"), Job::STARTING);
  EXPECT_EQ(shell_.StateOf("p-d"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("p"), reason::kWaitingForNeeds);
  End("p-b", 0);
  End("p-d", 0);
  EXPECT_EQ(shell_.StateOf("p"), Job::STARTING);
}

TEST_F(LifeTest, WhatAFailedJobLeftWillDo) {
  Submit(
      {JobBuilder("a"), JobBuilder("b").NeedsEnded("a").StartFrom("jobs/a")});
  shell_.Observe("w",
                 {AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(2)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
}

}  // namespace
}  // namespace ordo::scheduler::core
