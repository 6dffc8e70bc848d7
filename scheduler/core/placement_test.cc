#include "scheduler/core/placement.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::DesiredAttempt;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::WorkerBuilder;

using PlacementTest = testing::CoreTest;

TEST_F(PlacementTest, ThePriorityThatWasSetDecides) {
  Submit(JobBuilder("a"));
  Submit(JobBuilder("b"));
  ORDO_ASSERT_OK(shell_.ChangePriority("b", 5));
  StartWorker();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
}

TEST_F(PlacementTest, WhoComesFirstDoesNotHangOnTheWallClock) {
  Submit(JobBuilder("a"));
  shell_.JumpWallClock(-absl::Hours(1));
  Submit(JobBuilder("b"));
  StartWorker();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
}

TEST_F(PlacementTest, NorDoesItAfterARestart) {
  Submit(JobBuilder("a"));
  shell_.JumpWallClock(-absl::Hours(1));
  Submit(JobBuilder("b"));
  shell_.Restart();
  Submit(JobBuilder("c"));
  StartWorker();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  Observe(AttemptBuilder("a", 1).Running().Exited(0));
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
}

TEST_F(PlacementTest, AJobOfHigherPriorityTakesTheDeviceAfterACheckpoint) {
  StartWorker();
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running().Step(1));
  Submit(JobBuilder("b").Priority(10));
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  // Too young to be preempted before, and nothing happens but time.
  shell_.Advance(absl::Seconds(9));
  Observe(AttemptBuilder("a", 1).Running().Step(2));
  while (!shell_.HasDesired("w") && shell_.StateOf("a") == Job::RUNNING) {
    shell_.Advance(absl::Seconds(5));
    if (shell_.HasDesired("w")) break;
    Observe(AttemptBuilder("a", 1).Running().Step(3));
    ASSERT_LT(shell_.now().monotonic, absl::Minutes(3));
  }
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).action(), DesiredAttempt::STOP);
  EXPECT_THAT(shell_.job("a").message(), HasSubstr("job b"));
  Observe(AttemptBuilder("a", 1).Running().Step(4).Checkpoint(1, 4).Exited(10));
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kPreempted);
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  EXPECT_EQ(shell_.job("a").interruptions(), 0);
  EXPECT_EQ(shell_.StateOf("b"), Job::STARTING);
}

TEST_F(PlacementTest, ALargeJobIsNotOvertakenForEver) {
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
  shell_.Ignore();
  Submit(JobBuilder("first"));
  Submit(JobBuilder("large").Ranks(1, 2));
  Submit(JobBuilder("small"));
  // The free device is kept.
  EXPECT_EQ(shell_.StateOf("small"), Job::QUEUED);
  Observe(AttemptBuilder("first", 1).Running().Exited(0));
  EXPECT_EQ(shell_.StateOf("large"), Job::STARTING);
}

// Nothing happens but time.
TEST_F(PlacementTest, WhatComesTooLateForADrainKeepsNobodyBehindItWaiting) {
  ORDO_ASSERT_OK(
      shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1", "cpu:2"})));
  shell_.Ignore();
  ChangeQueue limit;
  limit.author.owner.set_user("ada");
  limit.queue.set_name("queues/night");
  limit.queue.set_max_queued_jobs(5);
  auto& quota = *limit.queue.add_quotas();
  quota.set_device("cpu");
  quota.set_limit(2);
  ORDO_ASSERT_OK(shell_.Change(limit));
  shell_.Ignore();
  ChangeWorker drain;
  drain.author.owner.set_user("ada");
  drain.verb = ChangeWorker::Verb::kDrain;
  drain.worker = "w";
  drain.drain_at = shell_.now().wall + shell_.state().options.board.grace +
                   absl::Seconds(70);
  ORDO_ASSERT_OK(shell_.Change(drain));
  shell_.Ignore();
  const auto submit = [this](JobBuilder job, int64_t limit_s) {
    NewJob in_queue = job.RunTimeLimit(absl::Seconds(limit_s));
    in_queue.OwnSpec().set_queue("night");
    Submit(in_queue);
  };
  submit(JobBuilder("first"), 60);
  submit(JobBuilder("gang").Ranks(2), 65);
  submit(JobBuilder("small"), 30);
  shell_.Advance(absl::Seconds(4));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("first"), Job::STARTING);
  EXPECT_EQ(shell_.StateOf("small"), Job::QUEUED);

  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("gang"), Job::QUEUED);
  EXPECT_EQ(shell_.StateOf("small"), Job::STARTING);
}

TEST_F(PlacementTest, TimeAloneIsWaitedForOnlyWhereItMayLetAJobPreempt) {
  StartWorker();
  Submit(JobBuilder("a"));
  Submit(JobBuilder("b"));
  EXPECT_EQ(shell_.state().place_at, std::nullopt);
  Submit(JobBuilder("c").Priority(10));
  EXPECT_NE(shell_.state().place_at, std::nullopt);
}

}  // namespace
}  // namespace ordo::scheduler::core
