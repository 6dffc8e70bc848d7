#include "scheduler/core/attempts.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

class AttemptsTest : public ::testing::Test {
 protected:
  void StartWorker() {
    ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w")));
    shell_.Ignore();
  }
  void Submit(const NewJob& job) {
    ORDO_ASSERT_OK(shell_.Submit(job));
    shell_.Ignore();
  }
  void Observe(const ObservedAttempt& attempt) {
    shell_.Observe("w", {attempt});
    shell_.Ignore();
  }

  TestShell shell_;
};

TEST_F(AttemptsTest, CancelWhileQueuedEndsAtOnce) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.CancelJob("a", "bob"));
  EXPECT_EQ(job.state(), Job::CANCELLED);
  EXPECT_EQ(job.cancelled_by(), "bob");
  EXPECT_EQ(job.reason(), reason::kCancelledByUser);
}

TEST_F(AttemptsTest, CancelDuringABackoffEndsAtOnce) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Exited(1));
  ASSERT_EQ(shell_.ReasonOf("a"), reason::kBackoff);
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  shell_.Advance(absl::Seconds(5));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
}

TEST_F(AttemptsTest, CancelWhileStartingKillsTheAttempt) {
  StartWorker();
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job, shell_.CancelJob("a"));
  EXPECT_EQ(job.state(), Job::CANCELLING);
  const auto desired = shell_.TakeDesired("w");
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).action(), agent::v1::DesiredAttempt::KILL);
  EXPECT_EQ(desired.attempts(0).grace().seconds(), 2);
  Observe(AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED));
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
}

TEST_F(AttemptsTest, ASecondCancelIsAnsweredWithTheJobAsItIs) {
  StartWorker();
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK(shell_.CancelJob("a", "ada"));
  shell_.Ignore();
  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell_.CancelJob("a", "bob"));
  EXPECT_EQ(job.state(), Job::CANCELLING);
  EXPECT_EQ(job.cancelled_by(), "ada");
}

TEST_F(AttemptsTest, CancelOfAnEndedOrUnknownJobIsRefused) {
  Submit(JobBuilder("a"));
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  EXPECT_THAT(
      shell_.CancelJob("a"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("CANCELLED")));
  EXPECT_THAT(shell_.CancelJob("b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(AttemptsTest, AFailureIsRetriedAfterABackoffThatDoubles) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(3));
  Observe(AttemptBuilder("a", 1).Exited(1));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kBackoff);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 1);
  shell_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).attempt(), 2);
  Observe(AttemptBuilder("a", 2).Exited(1));
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
}

TEST_F(AttemptsTest, TheLastAllowedFailureEndsTheJob) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(2));
  Observe(AttemptBuilder("a", 1).Exited(1));
  shell_.Advance(absl::Seconds(1));
  shell_.Ignore();
  Observe(AttemptBuilder("a", 2).Ended(ObservedAttempt::HANG));
  EXPECT_EQ(shell_.StateOf("a"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kAttemptsExhausted);
  EXPECT_EQ(shell_.job("a").attempts(1).reason(), reason::kHang);
}

TEST_F(AttemptsTest, AFailureThatCannotHelpIsNotRetried) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Exited(11));
  EXPECT_EQ(shell_.StateOf("a"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kDataMissing);
}

TEST_F(AttemptsTest, ALostSupervisorCostsNoAttemptAndStartsAnotherAtOnce) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1));
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(1).Ended(
                          ObservedAttempt::SUPERVISOR_LOST)});
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).attempt(), 2);
}

TEST_F(AttemptsTest, FreeEndsWithoutAnyStepComeToWaitInBetween) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1));
  Observe(AttemptBuilder("a", 1).Ended(ObservedAttempt::SUPERVISOR_LOST));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  Observe(AttemptBuilder("a", 2).Ended(ObservedAttempt::HOST_FAILED));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  shell_.Advance(absl::Seconds(1));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
}

TEST_F(AttemptsTest, TwoJobsOnOneDeviceWaitForEachOther) {
  StartWorker();
  Submit(JobBuilder("a"));
  Submit(JobBuilder("b"));
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
  shell_.Observe("w", {AttemptBuilder("a", 1).Exited(0)});
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).job(), "b");
}

TEST_F(AttemptsTest, TheRecordKeepsTheNewestAttempts) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1));
  for (int attempt = 1; attempt <= kMaxAttemptsKept + 2; ++attempt) {
    Observe(AttemptBuilder("a", attempt).Running().Step(1).Exited(10));
  }
  EXPECT_EQ(shell_.job("a").attempts_size(), kMaxAttemptsKept);
  EXPECT_EQ(shell_.job("a").attempts().rbegin()->number(),
            kMaxAttemptsKept + 3);
}

TEST_F(AttemptsTest, DeviceTimeIsCountedByUseWhileTheAttemptRuns) {
  const auto used = [this](const std::string& use) {
    return shell_.Counted(Count::What::kDeviceSeconds, use);
  };
  StartWorker();
  Submit(JobBuilder("a"));
  shell_.Advance(absl::Seconds(2));
  Observe(AttemptBuilder("a", 1).Running());
  EXPECT_EQ(used("start"), 2);
  shell_.Advance(absl::Seconds(4));
  Observe(AttemptBuilder("a", 1).Running().Step(40));
  EXPECT_EQ(used("train"), 4);
  shell_.Advance(absl::Seconds(6));
  Observe(AttemptBuilder("a", 1).Running().Step(100).Evaluating("grid"));
  EXPECT_EQ(used("train"), 10);
  shell_.Advance(absl::Seconds(5));
  // No step more is told than before the evaluation.
  Observe(AttemptBuilder("a", 1).Running().Step(100));
  EXPECT_EQ(used("evaluate"), 5);
  shell_.Advance(absl::Seconds(7));
  Observe(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  EXPECT_EQ(used("start"), 2);
  EXPECT_EQ(used("train"), 17);
  EXPECT_EQ(used("evaluate"), 5);
}

TEST_F(AttemptsTest, AnEvaluationJobsDeviceTimeIsEvaluation) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(100).Checkpoint(1, 100));
  Observe(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  Submit(JobBuilder("b").Evaluates({"jobs/a/checkpoints/100-1"}));
  Observe(AttemptBuilder("b", 1).Running());
  shell_.Advance(absl::Seconds(3));
  Observe(AttemptBuilder("b", 1).Running().Exited(0));
  EXPECT_EQ(shell_.Counted(Count::What::kDeviceSeconds, "evaluate"), 3);
  EXPECT_EQ(shell_.Counted(Count::What::kDeviceSeconds, "train"), 0);
}

TEST_F(AttemptsTest, ARestartedSchedulerGoesOnWithTheUse) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  shell_.Restart();
  shell_.Advance(absl::Seconds(3));
  ORDO_ASSERT_OK(shell_.Announce(
      WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running().Step(2))));
  shell_.Ignore();
  EXPECT_EQ(shell_.Counted(Count::What::kDeviceSeconds, "train"), 3);
}

TEST_F(AttemptsTest, WhatAFailureLostIsCounted) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(10).Checkpoint(1, 10));
  shell_.Advance(absl::Seconds(4));
  Observe(AttemptBuilder("a", 1).Running().Step(17).Ended(
      ObservedAttempt::SIGNAL, 9));
  EXPECT_EQ(shell_.Counted(Count::What::kStepsLost, reason::kTrainerKilled), 7);
  EXPECT_EQ(
      shell_.Counted(Count::What::kDeviceSecondsLost, reason::kTrainerKilled),
      4);
  EXPECT_EQ(shell_.Counted(Count::What::kAttemptEnded, reason::kTrainerKilled),
            1);
}

}  // namespace
}  // namespace ordo::scheduler::core
