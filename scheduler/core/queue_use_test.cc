#include "scheduler/core/queue_use.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::StatusIs;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

// No worker is lost, however long nobody looks.
Options LongLease() {
  Options options = TestShell::DefaultOptions();
  options.lease = absl::Hours(1000);
  return options;
}

class QueueUseTest : public ::testing::Test {
 protected:
  // A worker with two devices.
  void SetUp() override {
    ORDO_ASSERT_OK(
        shell_.Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"})));
    shell_.Ignore();
  }
  void Start(const std::string& job) {
    ORDO_ASSERT_OK(shell_.Submit(JobBuilder(job)));
    shell_.Ignore();
  }
  void End(const std::string& job) {
    shell_.Observe("w", {AttemptBuilder(job, 1).Running().Exited(0)});
    shell_.Ignore();
  }
  double Used() const {
    return shell_.state().board.Usage("default", "cpu", shell_.now().monotonic);
  }
  std::string BytesOf(double device_seconds) {
    usage::v1::QueueUse row;
    row.set_queue("default");
    row.set_device("cpu");
    row.set_device_seconds(device_seconds);
    return row.SerializeAsString();
  }

  TestShell shell_{LongLease()};
};

TEST_F(QueueUseTest, ARestartForgetsNothingOfIt) {
  Start("old");
  shell_.Stall(absl::Hours(1));
  End("old");
  Start("a");
  shell_.Stall(absl::Hours(20));
  Start("b");
  shell_.Stall(absl::Hours(3));
  const double before = Used();
  EXPECT_GT(before, 10 * 3600);
  shell_.Restart();
  EXPECT_NEAR(Used(), before, 1);
  shell_.Stall(absl::Hours(2));
  const double later = Used();
  EXPECT_GT(later, before);
  shell_.Restart();
  EXPECT_NEAR(Used(), later, 1);
}

TEST_F(QueueUseTest, ItDecaysWhileThereIsNoScheduler) {
  Start("a");
  shell_.Stall(absl::Hours(10));
  End("a");
  const double before = Used();
  shell_.Stall(absl::Hours(24));
  shell_.Restart();
  EXPECT_NEAR(Used(), before / 2, 1);
}

TEST_F(QueueUseTest, NothingIsUsedAfterItsEndWhenAnybodyHearsOfThat) {
  Start("a");
  Start("b");
  shell_.Stall(absl::Hours(24));
  agent::v1::AnnounceRequest back =
      WorkerBuilder("w")
          .Devices({"cpu:0", "cpu:1"})
          .Runs(AttemptBuilder("a", 1).Running().Exited(0))
          .Runs(AttemptBuilder("b", 1).Running().Exited(0));
  for (auto& gone : *back.mutable_observed()->mutable_attempts()) {
    *gone.mutable_end_time() = ToTimestamp(shell_.now().wall);
  }
  const double day = 24 * 3600;
  shell_.Stall(absl::Hours(24));
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(back));
  shell_.Ignore();
  // Two devices for a day, of which a second day left half.
  EXPECT_NEAR(Used(), 2 * day / std::log(2.0) * (1 - 0.5) * 0.5, 1);
}

TEST_F(QueueUseTest, AWallClockThatWentBackMakesNoUse) {
  Start("a");
  shell_.Stall(absl::Hours(10));
  End("a");
  const double before = Used();
  shell_.JumpWallClock(-absl::Hours(100));
  shell_.Restart();
  EXPECT_NEAR(Used(), before, 1);
}

TEST_F(QueueUseTest, ItIsRecordedOnceASecondAtMost) {
  const auto row = [this] { return shell_.state().used.at("default/cpu").row; };
  Start("a");
  End("a");
  const RowPtr first = row();
  Start("b");
  shell_.Stall(absl::Milliseconds(500));
  End("b");
  EXPECT_EQ(row(), first);
  Start("c");
  shell_.Stall(absl::Milliseconds(600));
  End("c");
  EXPECT_NE(row(), first);
}

TEST_F(QueueUseTest, ADeletedQueueIsForgotten) {
  ChangeQueue change;
  change.verb = ChangeQueue::Verb::kCreate;
  change.queue.set_name("queues/night");
  ORDO_ASSERT_OK(shell_.Change(change));
  NewJob job = JobBuilder("a");
  job.OwnSpec().set_queue("night");
  ORDO_ASSERT_OK(shell_.Submit(job));
  shell_.Ignore();
  shell_.Stall(absl::Seconds(5));
  End("a");
  EXPECT_EQ(shell_.state().used.count("night/cpu"), 1u);
  change.verb = ChangeQueue::Verb::kDelete;
  ORDO_ASSERT_OK(shell_.Change(change));
  EXPECT_TRUE(shell_.state().used.empty());
}

TEST_F(QueueUseTest, WhatNoSchedulerRecordedIsDamage) {
  const auto take = [](const std::string& key, const std::string& bytes) {
    State state;
    return TakeUseRow(Row{Row::Kind::kQueueUse, key, bytes}, &state);
  };
  ORDO_EXPECT_OK(take("default/cpu", BytesOf(1)));
  const auto damage = StatusIs(absl::StatusCode::kDataLoss);
  EXPECT_THAT(take("default/cuda", BytesOf(1)), damage);
  EXPECT_THAT(take("default/cpu", BytesOf(-1)), damage);
  EXPECT_THAT(
      take("default/cpu", BytesOf(std::numeric_limits<double>::infinity())),
      damage);
}

}  // namespace
}  // namespace ordo::scheduler::core
