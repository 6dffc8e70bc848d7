#include "scheduler/core/waiting.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using jobs::v1::Job;
using testing::AttemptBuilder;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

TEST(WaitingTest, OnlyWhatWaitsForDevicesIsOnTheBoard) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("b").Held()));
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("c").Needs("a")));
  ASSERT_EQ(shell.state().waiting.size(), 1u);
  EXPECT_EQ(shell.state().waiting.at(1)->id, "a");
  EXPECT_TRUE(shell.state().board.IsWaiting(1));
  EXPECT_FALSE(shell.state().board.IsWaiting(2));
}

TEST(WaitingTest, AHoldComesBeforeANeedAndThatBeforeABackoff) {
  JobRecord job;
  Queued queued;
  EXPECT_STREQ(WaitReason(job, queued), reason::kWaitingForDevice);
  queued.not_before = absl::Seconds(1);
  EXPECT_STREQ(WaitReason(job, queued), reason::kBackoff);
  queued.num_needed = 1;
  EXPECT_STREQ(WaitReason(job, queued), reason::kWaitingForNeeds);
  job.held_by = "ada";
  EXPECT_STREQ(WaitReason(job, queued), reason::kHeld);
}

TEST(WaitingTest, AJobKnowsHowLongItHasWaited) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  EXPECT_EQ(absl::FromUnixSeconds(shell.job("a").queue_time().seconds()),
            shell.now().wall);
  shell.Advance(absl::Seconds(7));
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  EXPECT_FALSE(shell.job("a").has_queue_time());
  EXPECT_EQ(shell.job("a").waited().seconds(), 7);
}

TEST(WaitingTest, ABackoffThatEndsWithoutADeviceIsRecorded) {
  TestShell shell;
  ORDO_ASSERT_OK(shell.Announce(WorkerBuilder("w")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("b")));
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("a", 1).Exited(1)});
  shell.Ignore();
  shell.Advance(absl::Seconds(1));
  EXPECT_EQ(shell.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell.ReasonOf("a"), reason::kWaitingForDevice);
  EXPECT_FALSE(shell.job("a").has_not_before_time());
}

}  // namespace
}  // namespace ordo::scheduler::core
