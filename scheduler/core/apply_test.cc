#include "scheduler/core/apply.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using base::testing::IsOk;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

TEST(ApplyTest, AJobRunsFromSubmissionToItsEnd) {
  TestShell shell;
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  EXPECT_EQ(shell.TakeDesired("w").attempts_size(), 0);

  ORDO_ASSERT_OK_AND_ASSIGN(const jobs::v1::Job job,
                            shell.Submit(JobBuilder("a")));
  EXPECT_EQ(job.state(), Job::QUEUED);
  EXPECT_EQ(shell.StateOf("a"), Job::STARTING);
  const auto desired = shell.TakeDesired("w");
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).action(), agent::v1::DesiredAttempt::RUN);
  EXPECT_EQ(desired.attempts(0).train().job(), "a");
  EXPECT_THAT(desired.attempts(0).devices(), ElementsAre("cpu:0"));

  shell.Observe("w", {AttemptBuilder("a", 1).Running()});
  EXPECT_EQ(shell.StateOf("a"), Job::RUNNING);
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Step(3)});
  ASSERT_NE(shell.published_progress("a"), nullptr);
  EXPECT_EQ(shell.published_progress("a")->step(), 3);
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Step(100).Exited(0)});
  EXPECT_EQ(shell.StateOf("a"), Job::SUCCEEDED);
  EXPECT_EQ(shell.ReasonOf("a"), reason::kFinished);
  EXPECT_EQ(shell.TakeDesired("w").attempts_size(), 0);
  EXPECT_EQ(shell.published_progress("a"), nullptr);
}

TEST(ApplyTest, NextDeadlineIsTheFirstOfAll) {
  TestShell shell;
  EXPECT_EQ(NextDeadline(shell.state()), std::nullopt);
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  shell.Ignore();
  EXPECT_EQ(NextDeadline(shell.state()),
            shell.now().monotonic + absl::Seconds(10));
}

TEST(ApplyTest, TheDesiredSetIsRepeatedAtEachHeartbeat) {
  Options options = TestShell::DefaultOptions();
  options.heartbeat = absl::Seconds(2);
  TestShell shell(options);
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  const int64_t first = shell.TakeDesired("w").sequence();
  shell.Advance(absl::Seconds(1));
  EXPECT_FALSE(shell.HasDesired("w"));
  shell.Advance(absl::Seconds(1));
  EXPECT_GT(shell.TakeDesired("w").sequence(), first);
}

TEST(ApplyTest, AJumpOfTheWallClockLosesNoWorker) {
  TestShell shell;
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  shell.Ignore();
  shell.JumpWallClock(absl::Hours(5));
  shell.Advance(absl::Seconds(1));
  EXPECT_EQ(shell.published_worker("w")->state(), workers::v1::Worker::ONLINE);
}

TEST(ApplyTest, AStalledSchedulerTakesNoWorkerForSilent) {
  Options options = TestShell::DefaultOptions();
  options.heartbeat = absl::Seconds(2);
  TestShell shell(options);
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  shell.Stall(absl::Seconds(12));
  shell.Advance(absl::ZeroDuration());
  shell.Ignore();
  EXPECT_EQ(shell.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell.published_worker("w")->state(), workers::v1::Worker::ONLINE);
  // From here on it counts again.
  shell.Advance(absl::Seconds(10));
  shell.Ignore();
  EXPECT_EQ(shell.published_worker("w")->state(), workers::v1::Worker::LOST);
}

TEST(ApplyTest, AnAnnouncementThatWaitedCounts) {
  TestShell shell;
  EXPECT_THAT(shell.Announce(WorkerBuilder("w")), IsOk());
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  shell.Observe("w", {AttemptBuilder("a", 1).Running()});
  shell.Ignore();
  shell.Stall(absl::Seconds(11));
  shell.Observe("w", {AttemptBuilder("a", 1).Running().Step(3)});
  shell.Ignore();
  EXPECT_EQ(shell.StateOf("a"), Job::RUNNING);
}

TEST(ApplyTest, MoreJobsThanOneCallPlacesStartAtOnceAllTheSame) {
  TestShell shell;
  std::vector<NewJob> jobs;
  for (size_t i = 0; i < policy::kMaxStarts + 5; ++i) {
    jobs.push_back(JobBuilder("job-" + std::to_string(i)));
  }
  EXPECT_THAT(shell.Submit(jobs), IsOk());
  for (int w = 0; w < 2; ++w) {
    std::vector<std::string> devices;
    for (int i = 0; i < 1000; ++i)
      devices.push_back("cpu:" + std::to_string(i));
    EXPECT_THAT(
        shell.Announce(WorkerBuilder("w" + std::to_string(w)).Devices(devices)),
        IsOk());
    shell.Ignore();
  }
  shell.Advance(absl::ZeroDuration());
  shell.Ignore();
  EXPECT_TRUE(shell.state().waiting.empty());
}

}  // namespace
}  // namespace ordo::scheduler::core
