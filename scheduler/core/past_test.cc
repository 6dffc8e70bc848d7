#include "scheduler/core/past.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

// Job a has ended, with the checkpoints 10-1 and 20-1 and a report.
class PastTest : public ::testing::Test {
 protected:
  PastTest() {
    EXPECT_TRUE(shell_.Announce(WorkerBuilder("w")).ok());
    shell_.Ignore();
    EXPECT_TRUE(shell_.Submit(JobBuilder("a").RequestId("r")).ok());
    shell_.Ignore();
    shell_.Observe("w", {AttemptBuilder("a", 1)
                             .Running()
                             .Checkpoint(1, 10)
                             .Checkpoint(2, 20)
                             .Report(3, "grid-20")
                             .Exited(0)});
    shell_.Ignore();
    EXPECT_EQ(shell_.StateOf("a"), jobs::v1::Job::SUCCEEDED);
  }
  bool Holds(const std::string& job) {
    return shell_.state().jobs.count(job) > 0;
  }

  TestShell shell_;
};

TEST_F(PastTest, AnEndedJobLeavesAndComesBackAsItWas) {
  const jobs::v1::Job before = shell_.job("a");
  shell_.Forget({"a"});
  EXPECT_FALSE(Holds("a"));
  EXPECT_TRUE(shell_.state().requests.empty());
  shell_.Recall({"a"});
  EXPECT_EQ(shell_.job("a").SerializeAsString(), before.SerializeAsString());
  EXPECT_EQ(shell_.state().jobs.at("a").checkpoints.size(), 2u);
  EXPECT_EQ(shell_.state().jobs.at("a").reports.size(), 1u);
}

TEST_F(PastTest, AJobThatHasNotEndedStays) {
  ASSERT_TRUE(shell_.Submit(JobBuilder("b")).ok());
  shell_.Ignore();
  shell_.Forget({"b", "unknown"});
  EXPECT_TRUE(Holds("b"));
}

TEST_F(PastTest, AJobWhoseCheckpointIsNeededStaysUntilItIsNot) {
  ASSERT_TRUE(
      shell_.Submit(JobBuilder("b").StartFrom("jobs/a/checkpoints/20-1")).ok());
  shell_.Ignore();
  shell_.Forget({"a"});
  EXPECT_TRUE(Holds("a"));
  ASSERT_TRUE(shell_.CancelJob("b").ok());
  shell_.Ignore();
  shell_.Observe(
      "w", {AttemptBuilder("b", 1).Ended(agent::v1::ObservedAttempt::KILLED)});
  shell_.Ignore();
  shell_.Forget({"b", "a"});
  EXPECT_FALSE(Holds("a"));
}

TEST_F(PastTest, AJobWhoseReportAloneIsNeededStays) {
  ASSERT_TRUE(shell_.Submit(JobBuilder("b").StartFrom("jobs/a")).ok());
  shell_.Ignore();
  shell_.Observe(
      "w", {AttemptBuilder("b", 1).Running().Checkpoint(1, 30).Exited(0)});
  shell_.Ignore();
  ASSERT_TRUE(
      shell_
          .Submit(
              JobBuilder("g").Gates("jobs/b", "jobs/a/reports/grid-20").Held())
          .ok());
  shell_.Ignore();
  shell_.Forget({"a"});
  EXPECT_TRUE(Holds("a"));
  ASSERT_TRUE(shell_.CancelJob("g").ok());
  shell_.Forget({"a"});
  EXPECT_FALSE(Holds("a"));
}

TEST_F(PastTest, APartStaysAsLongAsItsParentHasNotEnded) {
  ASSERT_TRUE(shell_
                  .Submit({JobBuilder("s-0").PartOf("s").Held(),
                           JobBuilder("s").Sweeps({"s-0"})})
                  .ok());
  ASSERT_TRUE(shell_.CancelJob("s-0").ok());
  shell_.Ignore();
  shell_.Forget({"s-0"});
  EXPECT_TRUE(Holds("s-0"));
  ASSERT_TRUE(shell_.CancelJob("s").ok());
  shell_.Ignore();
  shell_.Observe(
      "w", {AttemptBuilder("s", 1).Ended(agent::v1::ObservedAttempt::KILLED)});
  shell_.Ignore();
  shell_.Forget({"s", "s-0"});
  EXPECT_FALSE(Holds("s-0"));
}

TEST_F(PastTest, AJobThatWaitedForOneGoesOnWithoutIt) {
  ASSERT_TRUE(shell_.Submit(JobBuilder("b").Needs("a").Held()).ok());
  shell_.Forget({"a"});
  EXPECT_FALSE(Holds("a"));
  // Neither a new start of the scheduler nor of the job asks for it again.
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.ReleaseJob("b"));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("b"), jobs::v1::Job::STARTING);
  shell_.Observe(
      "w",
      {AttemptBuilder("b", 1).Ended(agent::v1::ObservedAttempt::HOST_FAILED)});
  shell_.Ignore();
  EXPECT_EQ(shell_.job("b").attempts_size(), 2);
}

TEST_F(PastTest, WhatIsHeldIsNotReplacedByWhatIsStored) {
  State state;
  TakeBack(state, {shell_.state().jobs.at("a").job, {}, {}});
  auto other = std::make_shared<JobRecord>(*shell_.state().jobs.at("a").job);
  other->version += 1;
  TakeBack(state, {other, {}, {}});
  EXPECT_NE(state.jobs.at("a").job, other);
}

TEST_F(PastTest, ASequenceIsNotGivenAgain) {
  shell_.Forget({"a"});
  const int64_t next = shell_.state().next_sequence;
  const Records records = DurablePart(shell_.state());
  EXPECT_TRUE(records.jobs.empty());
  const auto state = Load(TestShell::DefaultOptions(), records, shell_.now());
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->next_sequence, next);
}

TEST_F(PastTest, ARecalledJobKeepsItsNameAndRequest) {
  shell_.Forget({"a"});
  shell_.Recall({"a"});
  EXPECT_THAT(shell_.Submit(JobBuilder("a")),
              StatusIs(absl::StatusCode::kAlreadyExists));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.Submit(JobBuilder("other").RequestId("r")));
  EXPECT_EQ(job.spec().name(), "a");
}

}  // namespace
}  // namespace ordo::scheduler::core
