#include "scheduler/core/admin.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::DesiredAttempt;
using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::CoreTest;
using testing::JobBuilder;
using testing::WorkerBuilder;
using workers::v1::Worker;

class AdminTest : public CoreTest {
 protected:
  static Author Ada() {
    Author author;
    author.owner.set_user("ada");
    author.reason = "because";
    return author;
  }

  absl::StatusOr<Worker> Change(
      ChangeWorker::Verb verb, const std::string& worker = "w",
      absl::Duration drain_in = absl::ZeroDuration()) {
    ChangeWorker change;
    change.verb = verb;
    change.worker = worker;
    change.drain_at = shell_.now().wall + drain_in;
    change.author = Ada();
    return shell_.Change(change);
  }

  // A job that runs on the worker.
  void StartJob() {
    StartWorker();
    ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
    shell_.Ignore();
    shell_.Observe("w", {AttemptBuilder("a", 1).Running()});
    shell_.Ignore();
    ASSERT_EQ(shell_.StateOf("a"), Job::RUNNING);
  }
  bool IsAskedToStop() {
    if (!shell_.HasDesired("w")) return false;
    const auto desired = shell_.TakeDesired("w");
    return desired.attempts_size() == 1 &&
           desired.attempts(0).action() == DesiredAttempt::STOP;
  }
};

TEST_F(AdminTest, NothingStartsOnACordonedWorkerUntilItIsUncordoned) {
  StartWorker();
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker worker,
                            Change(ChangeWorker::Verb::kCordon));
  EXPECT_TRUE(worker.cordoned());
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(AdminTest, WhatRunsOnACordonedWorkerGoesOn) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  EXPECT_FALSE(IsAskedToStop());
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
}

TEST_F(AdminTest, CordonOutlivesTheSchedulerAndTheWorker) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kCordon));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Incarnation("second")));
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  ASSERT_NE(shell_.published_worker("w"), nullptr);
  EXPECT_TRUE(shell_.published_worker("w")->cordoned());
}

TEST_F(AdminTest, DrainNowStopsWhatRunsAndQueuesItAgain) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain));
  EXPECT_TRUE(IsAskedToStop());
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(10)});
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
}

TEST_F(AdminTest, DrainAtATimeStopsWhatRunsThen) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  EXPECT_FALSE(IsAskedToStop());
  shell_.Advance(absl::Seconds(4));
  EXPECT_FALSE(IsAskedToStop());
  shell_.Advance(absl::Seconds(1));
  EXPECT_TRUE(IsAskedToStop());
}

TEST_F(AdminTest, OnlyWhatEndsBeforeADrainStarts) {
  StartWorker();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Minutes(10)));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("endless")));
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("long").RunTimeLimit(absl::Minutes(10))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("long"), Job::QUEUED);
  ORDO_ASSERT_OK(
      shell_.Submit(JobBuilder("short").RunTimeLimit(absl::Minutes(9))));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("short"), Job::STARTING);
  EXPECT_EQ(shell_.StateOf("endless"), Job::QUEUED);
}

TEST_F(AdminTest, UncordonEndsADrainBeforeItsTime) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kUncordon));
  shell_.Advance(absl::Seconds(6));
  EXPECT_FALSE(IsAskedToStop());
}

TEST_F(AdminTest, DrainIsKeptThroughARestart) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(
      WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running())));
  shell_.Ignore();
  shell_.Advance(absl::Seconds(5));
  EXPECT_TRUE(IsAskedToStop());
}

TEST_F(AdminTest, WallClockThatWentBackPutsTheDrainOff) {
  StartJob();
  ORDO_ASSERT_OK(Change(ChangeWorker::Verb::kDrain, "w", absl::Seconds(5)));
  shell_.JumpWallClock(-absl::Seconds(60));
  shell_.Advance(absl::Seconds(5));
  EXPECT_FALSE(IsAskedToStop());
}

TEST_F(AdminTest, WorkerNobodyKnowsIsNotFound) {
  for (const auto verb :
       {ChangeWorker::Verb::kCordon, ChangeWorker::Verb::kDrain,
        ChangeWorker::Verb::kUncordon}) {
    EXPECT_THAT(Change(verb, "nobody"), StatusIs(absl::StatusCode::kNotFound));
  }
}

TEST_F(AdminTest, RowThatCannotBeReadIsDamage) {
  State state;
  EXPECT_THAT(TakeAdminRow(Row{Row::Kind::kWorker, "x", "\xff"}, &state),
              StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace ordo::scheduler::core
