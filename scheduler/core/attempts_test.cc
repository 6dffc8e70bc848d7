#include "scheduler/core/attempts.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using testing::JobBuilder;
using testing::WorkerBuilder;

// With the moment at which it ended by its worker's clock.
ObservedAttempt EndedAt(absl::Time end, ObservedAttempt attempt) {
  *attempt.mutable_end_time() = ToTimestamp(end);
  return attempt;
}

class AttemptsTest : public CoreTest {
 protected:
  // The attempt of job a that runs for 4 s more, meets another scheduler, and
  // is lost at step 17.
  jobs::v1::Attempt LostAfterARestart() {
    shell_.Advance(absl::Seconds(4));
    shell_.Restart();
    ORDO_EXPECT_OK(shell_.Announce(
        WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running().Step(17))));
    shell_.Ignore();
    Observe(AttemptBuilder("a", 1).Running().Step(17).Ended(
        ObservedAttempt::SIGNAL, 9));
    return shell_.job("a").attempts(0);
  }
};

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

TEST_F(AttemptsTest, FreeEndsWithoutACheckpointComeToWaitInBetween) {
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

TEST_F(AttemptsTest, InterruptionsInARowHaveABudgetOfTheirOwn) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1).MaxInterruptions(2));
  Observe(AttemptBuilder("a", 1).Running().Step(5).Ended(
      ObservedAttempt::SUPERVISOR_LOST));
  EXPECT_EQ(shell_.job("a").interruptions(), 1);
  Observe(AttemptBuilder("a", 2).Running().Step(5).Ended(
      ObservedAttempt::HOST_FAILED));
  EXPECT_EQ(shell_.StateOf("a"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kInterruptionsExhausted);
}

TEST_F(AttemptsTest, NumbersThatAreTakenCostNothingAndAreSkippedAtOnce) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1).MaxInterruptions(1));
  for (int32_t taken = 1; taken <= 5; ++taken) {
    shell_.Observe(
        "w", {AttemptBuilder("a", taken).Ended(ObservedAttempt::FOLDER_TAKEN)});
    ASSERT_EQ(shell_.StateOf("a"), Job::STARTING);
    EXPECT_EQ(shell_.TakeDesired("w").attempts(0).attempt(), taken + 1);
  }
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  EXPECT_EQ(shell_.job("a").interruptions(), 0);
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kFolderTaken);
}

TEST_F(AttemptsTest, ANewCheckpointEndsARowOfInterruptions) {
  StartWorker();
  Submit(JobBuilder("a").MaxInterruptions(2));
  Observe(AttemptBuilder("a", 1).Ended(ObservedAttempt::SUPERVISOR_LOST));
  Observe(AttemptBuilder("a", 2).Running().Step(5).Checkpoint(1, 5));
  EXPECT_EQ(shell_.job("a").interruptions(), 0);
  Observe(AttemptBuilder("a", 2).Running().Step(6).Ended(
      ObservedAttempt::SUPERVISOR_LOST));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(AttemptsTest, StopsAreNoInterruptions) {
  StartWorker();
  Submit(JobBuilder("a").MaxInterruptions(1));
  Observe(AttemptBuilder("a", 1).Running().Exited(10));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.job("a").interruptions(), 0);
}

TEST_F(AttemptsTest, AnAttemptThatRunsTooLongIsStoppedAndTheJobFails) {
  StartWorker();
  Submit(JobBuilder("a").RunTimeLimit(absl::Seconds(5)));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  shell_.Advance(absl::Seconds(5));
  const auto desired = shell_.TakeDesired("w");
  EXPECT_EQ(desired.attempts(0).action(), agent::v1::DesiredAttempt::STOP);
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Observe(AttemptBuilder("a", 1).Running().Step(2).Checkpoint(1, 2).Exited(10));
  EXPECT_EQ(shell_.StateOf("a"), Job::FAILED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kRunTimeLimit);
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kRunTimeLimit);
}

TEST_F(AttemptsTest, AnAttemptThatFinishesWhileItIsStoppedHasFinished) {
  StartWorker();
  Submit(JobBuilder("a").RunTimeLimit(absl::Seconds(5)));
  shell_.Advance(absl::Seconds(5));
  shell_.Ignore();
  Observe(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  EXPECT_EQ(shell_.StateOf("a"), Job::SUCCEEDED);
}

TEST_F(AttemptsTest, AGateThatHasFinishedSaysItsVerdict) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(1, 9).Exited(0));
  EXPECT_EQ(shell_.job("a").message(), "the job finished");
  Submit(JobBuilder("g").Gates("jobs/a", "jobs/a"));
  ObservedAttempt attempt = AttemptBuilder("g", 1).Running().Exited(0);
  attempt.set_message("Verdict: fail.");
  Observe(attempt);
  EXPECT_EQ(shell_.StateOf("g"), Job::SUCCEEDED);
  EXPECT_EQ(shell_.job("g").message(), "Verdict: fail.");
}

TEST_F(AttemptsTest, ARestartedSchedulerKnowsHowLongAnAttemptHasRun) {
  StartWorker();
  Submit(JobBuilder("a").RunTimeLimit(absl::Seconds(9)));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  shell_.Advance(absl::Seconds(6));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(
      WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running().Step(2))));
  shell_.Ignore();
  shell_.Advance(absl::Seconds(3));
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).action(),
            agent::v1::DesiredAttempt::STOP);
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

TEST_F(AttemptsTest, WhatOlderAttemptsUsedStaysKnown) {
  StartWorker();
  Submit(JobBuilder("a").MaxAttempts(1));
  for (int attempt = 1; attempt <= kMaxAttemptsKept + 2; ++attempt) {
    shell_.Advance(absl::Seconds(1));
    Observe(AttemptBuilder("a", attempt).Running().Step(1).Exited(10));
  }
  const auto& past = shell_.job("a").earlier_usage();
  ASSERT_EQ(past.days_size(), 1);
  EXPECT_EQ(past.days(0).usage().attempts(), 3);
  EXPECT_EQ(past.days(0).usage().used_device_seconds() +
                past.days(0).usage().idle_device_seconds(),
            3);
}

TEST_F(AttemptsTest, TheWaitOfEachAttemptIsCountedByItsQueue) {
  Submit(JobBuilder("a"));
  shell_.Advance(absl::Seconds(5));
  StartWorker();
  EXPECT_EQ(shell_.Counted(Count::What::kQueueWait, "default"), 5);
  Submit(JobBuilder("b"));
  shell_.Advance(absl::Seconds(2));
  Observe(AttemptBuilder("a", 1).Running().Exited(0));
  EXPECT_EQ(shell_.Counted(Count::What::kQueueWait, "default"), 7);
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
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.lost_steps(), 7);
  EXPECT_EQ(attempt.lost_device_seconds(), 4);
}

TEST_F(AttemptsTest, WhatACancelEndsIsCountedAsCancelled) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(10));
  shell_.Advance(absl::Seconds(4));
  ORDO_ASSERT_OK(shell_.CancelJob("a"));
  shell_.Ignore();
  Observe(AttemptBuilder("a", 1).Running().Step(10).Ended(
      ObservedAttempt::KILLED, 9));
  EXPECT_EQ(shell_.StateOf("a"), Job::CANCELLED);
  const std::string reason = shell_.job("a").attempts(0).reason();
  EXPECT_EQ(reason, reason::kCancelledByUser);
  EXPECT_EQ(shell_.Counted(Count::What::kAttemptEnded, reason), 1);
  EXPECT_EQ(shell_.Counted(Count::What::kStepsLost, reason), 10);
  EXPECT_EQ(shell_.Counted(Count::What::kDeviceSecondsLost, reason), 4);
  EXPECT_EQ(shell_.Counted(Count::What::kAttemptEnded, reason::kWorkerLost), 0);
}

TEST_F(AttemptsTest, AStopIsNotTakenBackByWhoOpensTheWorkerAgain) {
  StartWorker();
  Submit(JobBuilder("a").MaxInterruptions(1));
  ObservedAttempt running = AttemptBuilder("a", 1).Running().Step(10);
  Observe(running);
  ChangeWorker change;
  change.verb = ChangeWorker::Verb::kDrain;
  change.worker = "w";
  change.drain_at = shell_.now().wall;
  change.author.owner.set_user("ada");
  ORDO_ASSERT_OK(shell_.Change(change));
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).action(),
            agent::v1::DesiredAttempt::STOP);
  running.set_phase(ObservedAttempt::STOPPING);
  Observe(running);
  change.verb = ChangeWorker::Verb::kUncordon;
  ORDO_ASSERT_OK(shell_.Change(change));
  shell_.Ignore();
  Observe(AttemptBuilder("a", 1).Running().Step(10).Ended(
      ObservedAttempt::KILLED, 9));
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kStopped);
  EXPECT_EQ(shell_.job("a").interruptions(), 0);
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(AttemptsTest, AStopWithoutACheckpointLosesWhatIsNotSaved) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(10));
  shell_.Advance(absl::Seconds(4));
  Observe(AttemptBuilder("a", 1).Running().Step(10).Exited(10));
  EXPECT_EQ(shell_.Counted(Count::What::kStepsLost, reason::kStopped), 10);
  EXPECT_EQ(shell_.Counted(Count::What::kDeviceSecondsLost, reason::kStopped),
            4);
  EXPECT_EQ(shell_.job("a").attempts(0).lost_steps(), 10);
  EXPECT_EQ(shell_.job("a").attempts(0).lost_device_seconds(), 4);
}

TEST_F(AttemptsTest, AStopWithACheckpointLosesNothing) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(10));
  shell_.Advance(absl::Seconds(4));
  Observe(
      AttemptBuilder("a", 1).Running().Step(12).Checkpoint(1, 12).Exited(10));
  EXPECT_EQ(shell_.job("a").attempts(0).lost_steps(), 0);
  EXPECT_EQ(shell_.job("a").attempts(0).lost_device_seconds(), 0);
}

TEST_F(AttemptsTest, ARestartedSchedulerKnowsWhatIsSaved) {
  StartWorker();
  Submit(JobBuilder("a"));
  shell_.Advance(absl::Seconds(3));
  Observe(AttemptBuilder("a", 1).Running().Step(10).Checkpoint(1, 10));
  const jobs::v1::Attempt attempt = LostAfterARestart();
  EXPECT_EQ(attempt.lost_steps(), 7);
  EXPECT_EQ(attempt.lost_device_seconds(), 4);
}

TEST_F(AttemptsTest, ARestartedSchedulerKnowsThatNothingIsSaved) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(10));
  const jobs::v1::Attempt attempt = LostAfterARestart();
  EXPECT_EQ(attempt.lost_steps(), 17);
  EXPECT_EQ(attempt.lost_device_seconds(), 4);
}

TEST_F(AttemptsTest, TimeAfterItsEndIsNobodysUse) {
  StartWorker();
  Submit(JobBuilder("a"));
  shell_.Advance(absl::Seconds(1));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  shell_.Stall(absl::Seconds(9));
  const absl::Time end = shell_.now().wall;
  // There is no scheduler overnight.
  shell_.Stall(absl::Hours(8));
  shell_.Restart();
  const ObservedAttempt gone =
      EndedAt(end, AttemptBuilder("a", 1).Running().Step(4).Ended(
                       ObservedAttempt::SIGNAL, 9));
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Runs(gone)));
  shell_.Ignore();
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(ToTime(attempt.end_time()), end);
  EXPECT_DOUBLE_EQ(attempt.device_seconds(), 10);
  EXPECT_DOUBLE_EQ(attempt.idle_device_seconds(), 1);
  EXPECT_DOUBLE_EQ(attempt.lost_device_seconds(), 10);
}

TEST_F(AttemptsTest, EachRankCountsUpToItsOwnEnd) {
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
  shell_.Ignore();
  Submit(JobBuilder("a").Ranks(2));
  shell_.Stall(absl::Seconds(3));
  shell_.Observe("w", {AttemptBuilder("a", 1, 0).Running().Step(1),
                       AttemptBuilder("a", 1, 1).Running().Exited(0)});
  shell_.Ignore();
  shell_.Stall(absl::Seconds(2));
  const absl::Time end = shell_.now().wall;
  shell_.Stall(absl::Hours(8));
  shell_.Restart();
  const ObservedAttempt gone =
      EndedAt(end, AttemptBuilder("a", 1, 0).Running().Step(1).Exited(0));
  ORDO_ASSERT_OK(shell_.Announce(
      WorkerBuilder("w").Devices({"cpu:0", "cpu:1"}).Runs(gone)));
  shell_.Ignore();
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(ToTime(attempt.end_time()), end);
  EXPECT_EQ(attempt.ranks(0).end_time().seconds(),
            attempt.end_time().seconds());
  EXPECT_EQ(attempt.ranks(1).end_time().seconds() + 2,
            attempt.end_time().seconds());
  EXPECT_DOUBLE_EQ(attempt.device_seconds(), 3 + 5);
}

TEST_F(AttemptsTest, AWorkersClockThatIsWrongTakesLittleAndAddsNothing) {
  for (const absl::Duration wrong : {-absl::Hours(5), absl::Hours(5)}) {
    SCOPED_TRACE(wrong);
    testing::TestShell shell;
    ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
    shell.Ignore();
    ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
    shell.Ignore();
    shell.Advance(absl::Seconds(4));
    shell.Observe("w", {AttemptBuilder("a", 1).Running().Step(1)});
    shell.Ignore();
    const absl::Time seen = shell.now().wall;
    shell.Advance(absl::Seconds(2));
    shell.Observe("w", {EndedAt(shell.now().wall + wrong,
                                AttemptBuilder("a", 1).Running().Exited(0))});
    shell.Ignore();
    const jobs::v1::Attempt attempt = shell.job("a").attempts(0);
    const bool behind = wrong < absl::ZeroDuration();
    EXPECT_EQ(ToTime(attempt.end_time()), behind ? seen : shell.now().wall);
    EXPECT_DOUBLE_EQ(attempt.device_seconds(), behind ? 4 : 6);
  }
}

TEST_F(AttemptsTest, AnEndBeforeTheStartIsTheStart) {
  StartWorker();
  Submit(JobBuilder("a"));
  const absl::Time start = shell_.now().wall;
  shell_.Advance(absl::Seconds(4));
  Observe(EndedAt(start - absl::Hours(5),
                  AttemptBuilder("a", 1).Running().Exited(0)));
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(ToTime(attempt.end_time()), start);
  EXPECT_EQ(attempt.device_seconds(), 0);
  EXPECT_EQ(attempt.idle_device_seconds(), 0);
}

TEST_F(AttemptsTest, OneThatIsLostCountsUntilItsLeaseIsOver) {
  StartWorker();
  Submit(JobBuilder("a"));
  shell_.Advance(absl::Seconds(3));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  shell_.Advance(absl::Seconds(11));
  shell_.Ignore();
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.reason(), reason::kWorkerLost);
  EXPECT_DOUBLE_EQ(attempt.device_seconds(), 13);
}

TEST_F(AttemptsTest, AnAttemptSaysHowLongItHeldItsDevices) {
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
  shell_.Ignore();
  Submit(JobBuilder("a").Ranks(1, 2));
  shell_.Advance(absl::Seconds(2));
  Observe(AttemptBuilder("a", 1).Running());
  shell_.Advance(absl::Seconds(3));
  Observe(AttemptBuilder("a", 1).Running().Step(100).Exited(0));
  const jobs::v1::Attempt& attempt = shell_.job("a").attempts(0);
  EXPECT_EQ(attempt.device_seconds(), 10);
  EXPECT_EQ(attempt.idle_device_seconds(), 4);
  EXPECT_EQ(attempt.lost_device_seconds(), 0);
}

}  // namespace
}  // namespace ordo::scheduler::core
