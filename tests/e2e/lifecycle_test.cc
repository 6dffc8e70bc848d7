// Cancel, waiting, restart, loss of a worker.
#include <signal.h>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/files/file_util.h"
#include "base/process/process.h"
#include "base/status/testing/status_matchers.h"
#include "base/units/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/scenario.h"

namespace ordo::tests::e2e {
namespace {

using jobs::v1::Job;
using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using LifecycleTest = Scenario;

TEST_F(LifecycleTest, CancelWhileQueuedEndsAtOnce) {
  Start("first:hold_at=5");
  Submit(Spec("first"));
  Submit(Spec("second"));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job answer, Cancel("second"));
  EXPECT_EQ(answer.state(), Job::CANCELLED);
  EXPECT_EQ(answer.attempts_size(), 0);
  CancelAndExpectTheEnd("first");
}

TEST_F(LifecycleTest, JobStartsOnceTheOneItNeedsHasSucceeded) {
  Start("first:hold_at=5");
  Submit(Spec("first"));
  jobs::v1::JobSpec second = Spec("second");
  second.add_needs()->set_job("first");
  Submit(second);
  const auto waiting = WaitForState("second", Job::QUEUED);
  ASSERT_TRUE(waiting.has_value());
  EXPECT_EQ(waiting->reason(), "WAITING_FOR_NEEDS");
  EXPECT_EQ(waiting->spec().needs(0).job(), "jobs/first");
  ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
  Release("first");
  EXPECT_TRUE(WaitForState("second", Job::SUCCEEDED).has_value());
}

TEST_F(LifecycleTest, HeldJobStartsOnceItIsReleased) {
  Start("");
  jobs::v1::JobSpec held = Spec("held");
  held.set_hold(true);
  Submit(held);
  Submit(Spec("other"));
  // It came earlier, and would have gone first.
  ASSERT_TRUE(WaitForState("other", Job::SUCCEEDED).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job waiting, deployment_->Get("held"));
  EXPECT_EQ(waiting.state(), Job::QUEUED);
  EXPECT_EQ(waiting.reason(), "HELD");
  EXPECT_EQ(waiting.held_by(), waiting.owner().user());
  ORDO_ASSERT_OK(EndHold("held"));
  EXPECT_TRUE(WaitForState("held", Job::SUCCEEDED).has_value());
}

TEST_F(LifecycleTest, JobThatRunsLongerThanItMayIsStoppedAndFails) {
  Start("job:hold_at=5");
  jobs::v1::JobSpec spec = Spec("job");
  spec.mutable_run_time_limit()->set_seconds(1);
  Submit(spec);
  const Job failed = WaitForFailure("job");
  EXPECT_EQ(failed.reason(), "RUN_TIME_LIMIT");
}

TEST_F(LifecycleTest, JobThatWaitsLongerThanItMayIsCancelled) {
  Start("first:hold_at=5");
  Submit(Spec("first"));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
  jobs::v1::JobSpec second = Spec("second");
  second.mutable_queue_time_limit()->set_seconds(1);
  Submit(second);
  const auto cancelled = WaitForState("second", Job::CANCELLED);
  ASSERT_TRUE(cancelled.has_value());
  EXPECT_EQ(cancelled->reason(), "QUEUE_TIME_LIMIT");
  CancelAndExpectTheEnd("first");
}

TEST_F(LifecycleTest, CancelWhileStarting) {
  Start("job:start_ms=60000");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForTrainer("job").has_value());
  CancelAndExpectTheEnd("job");
}

TEST_F(LifecycleTest, CancelWhileRunningEndsTheWholeGroup) {
  Start("job:hold_at=5,grandchildren=3");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::RUNNING).has_value());
  ASSERT_GE(ProcessesOf("job").size(), 5u);
  CancelAndExpectTheEnd("job");
}

TEST_F(LifecycleTest, CancelOfATrainerThatIgnoresItKillsIt) {
  Start("job:hold_at=5,ignore_term=1");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::RUNNING).has_value());
  CancelAndExpectTheEnd("job");
}

TEST_F(LifecycleTest, CancelledJobGivesItsDeviceToTheNext) {
  Start("first:hold_at=5,ignore_term=1");
  Submit(Spec("first"));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
  Submit(Spec("second"));
  CancelAndExpectTheEnd("first");
  EXPECT_TRUE(WaitForState("second", Job::SUCCEEDED).has_value());
}

TEST_F(LifecycleTest, CancelIsQuickWithTheShippedGraceToo) {
  harness::DeploymentOptions options =
      Options("job:hold_at=5,ignore_term=1,grandchildren=2");
  options.scheduler.clear_cancel_grace();
  Start(options);
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::RUNNING).has_value());
  CancelAndExpectTheEnd("job");
}

TEST_F(LifecycleTest, CancelWhileTheWorkerIsDeadEndsWithTheNextOne) {
  Start("job:hold_at=5,ignore_term=1");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::RUNNING).has_value());
  ORDO_ASSERT_OK(deployment_->EndWorker(SIGKILL));
  const absl::Time start = absl::Now();
  ORDO_ASSERT_OK_AND_ASSIGN(const Job answer, Cancel("job"));
  EXPECT_EQ(answer.state(), Job::CANCELLING);
  ORDO_ASSERT_OK(deployment_->StartWorker());
  ASSERT_TRUE(WaitForState("job", Job::CANCELLED).has_value());
  EXPECT_LT(absl::Now() - start, kCancelLimit);
  EXPECT_TRUE(WaitFor([&] { return ProcessesOf("job").empty(); }));
}

TEST_F(LifecycleTest, CancelOfAFinishedJobIsRefused) {
  Start("");
  Submit(Spec("job"));
  ASSERT_TRUE(WaitForState("job", Job::SUCCEEDED).has_value());
  EXPECT_THAT(Cancel("job"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "job job has ended already: SUCCEEDED; to run it again: "
                       "ordo rerun job"));
  EXPECT_THAT(Cancel("nobody"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(LifecycleTest, TwoJobsOnOneDeviceWaitForEachOther) {
  Start("first:hold_at=5");
  Submit(Spec("first"));
  Submit(Spec("second"));
  ASSERT_TRUE(WaitForState("first", Job::RUNNING).has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const auto explained, Explain("second"));
  EXPECT_THAT(explained.summary(), HasSubstr("first"));
  ASSERT_GE(explained.blockers_size(), 1);
  EXPECT_EQ(explained.blockers(0).reason(), "WAITING_FOR_DEVICE");
  Release("first");

  const auto second = WaitForState("second", Job::SUCCEEDED);
  ASSERT_TRUE(second.has_value());
  ORDO_ASSERT_OK_AND_ASSIGN(const Job first, deployment_->Get("first"));
  ASSERT_EQ(first.state(), Job::SUCCEEDED);
  const auto nanos = [](const google::protobuf::Timestamp& time) {
    return time.seconds() * int64_t{1'000'000'000} + time.nanos();
  };
  EXPECT_LE(nanos(first.attempts(0).end_time()),
            nanos(second->attempts(0).start_time()));
}

TEST_F(LifecycleTest, RestartedSchedulerGivesTheSameListing) {
  Start("running:hold_at=5");
  Submit(Spec("finished"));
  ASSERT_TRUE(WaitForState("finished", Job::SUCCEEDED).has_value());
  Submit(Spec("running"));
  ASSERT_TRUE(WaitUntil("running", [](const Job& job) {
    return job.attempts_size() == 1 && job.attempts(0).has_first_step_time();
  }));
  Submit(Spec("waiting"));
  Submit(Spec("cancelled"));
  ORDO_ASSERT_OK(Cancel("cancelled"));
  const auto listing = [this] {
    auto jobs = List();
    std::string text;
    if (!jobs.ok()) return jobs.status().ToString();
    for (Job& job : *jobs->mutable_jobs()) {
      // Where a run is comes back with its worker.
      job.clear_progress();
      absl::StrAppend(&text, job.DebugString(), "\n");
    }
    return text;
  };
  const std::string before = listing();
  EXPECT_THAT(before, HasSubstr("jobs/waiting"));

  ORDO_ASSERT_OK_AND_ASSIGN(const auto status,
                            deployment_->EndScheduler(SIGTERM));
  EXPECT_TRUE(status.ok()) << status.ToString();
  ORDO_ASSERT_OK(deployment_->StartScheduler());

  EXPECT_EQ(listing(), before);
  ORDO_ASSERT_OK(Cancel("waiting"));
  ORDO_ASSERT_OK(Cancel("running"));
  EXPECT_TRUE(WaitForState("running", Job::CANCELLED).has_value());
}

TEST_F(LifecycleTest, DrainedWorkerSavesAndTheNextOneGoesOn) {
  Start("job:hold_at=30");
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  Submit(Spec("job"));
  ASSERT_TRUE(WaitUntil(
      "job", [](const Job& job) { return job.progress().step() >= 29; }));
  ORDO_ASSERT_OK(deployment_->EndWorker(SIGTERM));
  EXPECT_TRUE(ProcessesOf("job").empty());
  const auto queued = WaitForState("job", Job::QUEUED);
  ASSERT_TRUE(queued.has_value());
  EXPECT_EQ(queued->attempts(0).reason(), "STOPPED");
  EXPECT_GE(queued->attempts(0).end_step(), 29);

  Release("job");
  ORDO_ASSERT_OK(deployment_->StartWorker());

  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_EQ(job->attempts_size(), 2);
  EXPECT_EQ(job->failed_attempts(), 0);
  EXPECT_EQ(job->attempts(1).start_step(), job->attempts(0).end_step());
  EXPECT_EQ(job->attempts(1).start_digest(), job->attempts(0).end_digest());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
}

// Two workers with a device each.
class LostWorkerTest : public Scenario {
 protected:
  static constexpr absl::Duration kLease = absl::Seconds(3);
  // From the end of the lease until the task is elsewhere.
  static constexpr absl::Duration kMove = absl::Seconds(1);

  // The job named "job" is held beyond its checkpoint of step 20 when the
  // process of its worker is killed, and nothing else; then it is held at the
  // same step on the other.
  void LoseWorker() {
    harness::DeploymentOptions options = Options("job:hold_at=30");
    options.num_workers = 2;
    options.scheduler.mutable_lease()->set_seconds(
        absl::ToInt64Seconds(kLease));
    Start(options);
    WaitForDevices(2);
    Submit(Spec("job"));
    const auto running = WaitUntil(
        "job", [](const Job& job) { return job.progress().step() >= 29; });
    ASSERT_TRUE(running.has_value());
    ASSERT_TRUE(WaitFor([this] { return LatestCheckpoint("job").ok(); }));
    lost_ = running->attempts(0).worker() == "worker-1" ? 1 : 2;

    ORDO_ASSERT_OK(deployment_->EndWorker(SIGKILL, lost_));
    // Nothing of it came later, so its lease counts from here or before.
    const absl::Time silent = absl::Now();

    const auto moved = WaitUntil("job", [](const Job& job) {
      return job.attempts_size() == 2 && job.attempts(1).has_first_step_time();
    });
    ASSERT_TRUE(moved.has_value());
    EXPECT_LE(base::ToTime(moved->attempts(1).start_time()) - silent,
              kLease + kMove);
    EXPECT_EQ(moved->attempts(0).reason(), "WORKER_LOST");
    EXPECT_EQ(moved->attempts(1).worker(),
              lost_ == 1 ? "worker-2" : "worker-1");
    EXPECT_EQ(moved->attempts(1).start_step(), 20);
    EXPECT_EQ(moved->attempts(1).resumed_from(), "jobs/job/checkpoints/20-1");
    // Supervisor and trainer, at work beside the other attempt's.
    EXPECT_EQ(ProcessesOfAttempt(1).size(), 2u);
  }

  std::vector<base::RunningProcess> ProcessesOfAttempt(int attempt) const {
    std::vector<base::RunningProcess> found;
    const std::string folder = absl::StrCat("/attempts/", attempt, "/");
    for (const base::RunningProcess& process : ProcessesOf("job")) {
      if (absl::StrContains(process.command_line, folder)) {
        found.push_back(process);
      }
    }
    return found;
  }

  // All that are registered, when the second attempt has finished.
  void ExpectCheckpointsOfTheSecond() {
    EXPECT_THAT(Checkpoints("job"),
                IsOkAndHolds(ElementsAre("jobs/job/checkpoints/60-2",
                                         "jobs/job/checkpoints/40-2",
                                         "jobs/job/checkpoints/20-1")));
    ORDO_ASSERT_OK_AND_ASSIGN(const auto latest, LatestCheckpoint("job"));
    EXPECT_EQ(latest.name(), "jobs/job/checkpoints/60-2");
  }

  int lost_ = 0;
};

TEST_F(LostWorkerTest, ItsTaskIsElsewhereInTimeAndWhatItFinishedCountsNot) {
  LoseWorker();
  if (HasFatalFailure()) return;
  Release("job");
  auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  ASSERT_TRUE(WaitFor([this] { return ProcessesOfAttempt(1).empty(); }));
  ASSERT_TRUE(base::Exists(files_, JobFolder("job") + "/checkpoints/60-1"));

  const std::string task = deployment_->WorkerFolder(lost_) + "/tasks/job.1";
  ASSERT_TRUE(base::Exists(files_, task));
  ORDO_ASSERT_OK(deployment_->StartWorker(lost_));
  // It has told of what it found, and was told that nobody wants it.
  ASSERT_TRUE(WaitFor([&] { return !base::Exists(files_, task); }));
  WaitForDevices(2);

  ORDO_ASSERT_OK_AND_ASSIGN(Job after, deployment_->Get("job"));
  // Where a run is is not part of the record.
  job->clear_progress();
  after.clear_progress();
  EXPECT_EQ(after.DebugString(), job->DebugString());
  ASSERT_EQ(after.attempts_size(), 2);
  EXPECT_EQ(after.failed_attempts(), 0);
  EXPECT_EQ(after.attempts(1).reason(), "FINISHED");
  ExpectCheckpointsOfTheSecond();
  Submit(Spec("undisturbed"));
  ASSERT_TRUE(WaitForState("undisturbed", Job::SUCCEEDED).has_value());
  EXPECT_EQ(ParametersDigest("job"), ParametersDigest("undisturbed"));
  EXPECT_TRUE(WaitFor([this] { return ProcessesOf("job").empty(); }));
}

TEST_F(LostWorkerTest, ItEndsWhatItFindsAtWorkWhenItIsBack) {
  LoseWorker();
  if (HasFatalFailure()) return;
  ORDO_ASSERT_OK(deployment_->StartWorker(lost_));
  ASSERT_TRUE(WaitFor([this] { return ProcessesOfAttempt(1).empty(); }));
  EXPECT_EQ(ProcessesOfAttempt(2).size(), 2u);
  Release("job");
  const auto job = WaitForState("job", Job::SUCCEEDED);
  ASSERT_TRUE(job.has_value());
  EXPECT_EQ(job->attempts_size(), 2);
  ExpectCheckpointsOfTheSecond();
}

}  // namespace
}  // namespace ordo::tests::e2e
