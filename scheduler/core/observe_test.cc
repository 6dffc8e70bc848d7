#include "scheduler/core/observe.h"

#include <string>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using agent::v1::ObservedAttempt;
using base::testing::IsOk;
using base::testing::StatusIs;
using jobs::v1::Job;
using testing::AttemptBuilder;
using ::testing::HasSubstr;
using testing::JobBuilder;
using testing::TestShell;
using testing::WorkerBuilder;

class ObserveTest : public ::testing::Test {
 protected:
  void Announce(const agent::v1::AnnounceRequest& request) {
    ORDO_ASSERT_OK(shell_.Announce(request));
    shell_.Ignore();
  }
  // Worker w runs attempt 1 of job a.
  void StartA() {
    Announce(WorkerBuilder("w"));
    ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a").MaxAttempts(1)));
    shell_.Ignore();
    shell_.Observe("w", {AttemptBuilder("a", 1).Running().Step(1)});
    ASSERT_EQ(shell_.StateOf("a"), Job::RUNNING);
  }

  TestShell shell_;
};

TEST_F(ObserveTest, AMalformedAnnouncementNamesEveryFault) {
  agent::v1::AnnounceRequest request =
      WorkerBuilder("w").Devices({"cpu:0", "cpu:0", "gpu"});
  request.set_worker("No Id");
  request.set_incarnation("");
  request.set_address("nowhere");
  const absl::Status status = shell_.Announce(request);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(base::FieldViolations(status).size(), 5u) << status;
  EXPECT_TRUE(shell_.state().workers.empty());
}

TEST(WorkersTest, NoMoreAreKnownThanMay) {
  Options options = TestShell::DefaultOptions();
  options.max_workers = 2;
  TestShell shell(options);
  const auto announce = [&shell](const char* id) {
    const absl::Status status = shell.Announce(WorkerBuilder(id));
    shell.Ignore();
    return status;
  };
  ORDO_ASSERT_OK(announce("u"));
  ORDO_ASSERT_OK(announce("v"));
  EXPECT_THAT(announce("w"), StatusIs(absl::StatusCode::kResourceExhausted,
                                      HasSubstr("forgotten after 1h")));
  ORDO_EXPECT_OK(announce("v"));
  // Those that are silent for an hour after they were lost make room.
  for (const absl::Duration step : {options.lease, options.forget_worker}) {
    shell.Advance(step);
    shell.Ignore();
  }
  EXPECT_TRUE(shell.state().workers.empty());
  ORDO_EXPECT_OK(announce("w"));
}

TEST_F(ObserveTest, ASilentWorkerIsLostAndItsJobStartsElsewhere) {
  StartA();
  shell_.Advance(absl::Seconds(5));
  Announce(WorkerBuilder("v"));
  shell_.Advance(absl::Seconds(5));
  EXPECT_EQ(shell_.published_worker("w")->state(), workers::v1::Worker::LOST);
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kWorkerLost);
  EXPECT_EQ(shell_.job("a").attempts(1).worker(), "v");
  EXPECT_EQ(shell_.job("a").failed_attempts(), 0);
  EXPECT_EQ(shell_.TakeDesired("v").attempts(0).attempt(), 2);
}

TEST_F(ObserveTest, EachWordOfAWorkerRenewsItsLease) {
  Announce(WorkerBuilder("w"));
  for (int i = 0; i < 3; ++i) {
    shell_.Advance(absl::Seconds(9));
    shell_.Observe("w", {});
  }
  EXPECT_EQ(shell_.published_worker("w")->state(), workers::v1::Worker::ONLINE);
}

TEST_F(ObserveTest, AZombiesDeviceIsNotGivenAwayWhileItLingers) {
  StartA();
  shell_.Advance(absl::Seconds(10));
  ASSERT_EQ(shell_.StateOf("a"), Job::QUEUED);
  // The worker is back and still runs attempt 1, which is over for us.
  Announce(
      WorkerBuilder("w").Sequence(5).Runs(AttemptBuilder("a", 1).Running()));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.Counted(Count::What::kStaleAttempt), 1);
  Announce(WorkerBuilder("w").Sequence(6).Runs(
      AttemptBuilder("a", 1).Ended(ObservedAttempt::KILLED)));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(shell_.job("a").attempts(1).number(), 2);
}

TEST_F(ObserveTest, ALateAnnouncementOfALostWorkerFreesNoDevice) {
  StartA();
  shell_.Advance(absl::Seconds(10));
  ASSERT_EQ(shell_.StateOf("a"), Job::QUEUED);
  // Sent before the worker began attempt 1, which it still runs.
  ORDO_ASSERT_OK(shell_.AnnounceOnly(WorkerBuilder("w").Sequence(1)));
  EXPECT_EQ(shell_.TakeDesired("w").attempts_size(), 0);
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Observe("w", {AttemptBuilder("a", 1).Running()});
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Observe("w", {});
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
}

TEST_F(ObserveTest, ALateAnnouncementAfterARestartFreesNoDevice) {
  StartA();
  shell_.Advance(absl::Seconds(10));
  // Attempt 1 was lost before; nobody knows on which incarnation.
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.AnnounceOnly(WorkerBuilder("w").Sequence(1)));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Observe("w", {AttemptBuilder("a", 1).Running()});
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
}

TEST_F(ObserveTest, ALateAnnouncementOfAnEarlierIncarnationFreesNoDevice) {
  StartA();
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.AnnounceOnly(WorkerBuilder("w").Incarnation("zeroth")));
  shell_.Ignore();
  // By what was said, attempt 1 is lost; it runs on.
  EXPECT_EQ(shell_.job("a").attempts_size(), 1);
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
}

TEST_F(ObserveTest, AWorkerThatDoesNotAnswerSaysSoOfItsDevices) {
  ORDO_ASSERT_OK(shell_.AnnounceOnly(WorkerBuilder("w")));
  shell_.Ignore();
  const auto withheld = [this] {
    return shell_.published_worker("w")->devices(0).withheld();
  };
  EXPECT_THAT(withheld(), HasSubstr("does not answer yet at "));
  shell_.Observe("w", {});
  EXPECT_EQ(withheld(), "");
}

TEST_F(ObserveTest, ALateAnnouncementOfAWorkerThatIsThereIsTaken) {
  StartA();
  // Overtaken by its answer to a desired set.
  EXPECT_THAT(shell_.Announce(WorkerBuilder("w").Draining().Sequence(1)),
              IsOk());
  shell_.Ignore();
  EXPECT_TRUE(shell_.state().workers.at("w").draining);
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
}

TEST_F(ObserveTest, WhereDataMayBeReadIsWhatTheNewestAnnouncementSays) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w");
  const auto shown = [this] {
    return ToProto(shell_.state(), shell_.state().workers.at("w"));
  };
  Announce(request);
  EXPECT_FALSE(shown().has_data_roots());
  request.mutable_data_roots()->add_paths("/srv/text");
  Announce(request);
  ASSERT_EQ(shown().data_roots().paths_size(), 1);
  EXPECT_EQ(shown().data_roots().paths(0), "/srv/text");
  request.mutable_data_roots()->clear_paths();
  Announce(request);
  EXPECT_TRUE(shown().has_data_roots());
  EXPECT_EQ(shown().data_roots().paths_size(), 0);
}

TEST_F(ObserveTest, WhatAZombieWritesIsRefused) {
  StartA();
  shell_.Advance(absl::Seconds(10));
  Announce(WorkerBuilder("w").Sequence(5).Runs(
      AttemptBuilder("a", 1).Running().Checkpoint(1, 50).Exited(0)));
  EXPECT_TRUE(shell_.state().jobs.at("a").checkpoints.empty());
  EXPECT_NE(shell_.StateOf("a"), Job::SUCCEEDED);
}

TEST_F(ObserveTest, ADeviceThatIsWithheldGetsNoJobUntilItIsOffered) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w").Devices({"cpu:0"});
  request.mutable_devices(0)->set_withheld("its kernels are being probed");
  request.mutable_devices(0)->set_job("jobs/of-nobody");
  Announce(request);
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  const Worker& worker = shell_.state().workers.at("w");
  const workers::v1::Worker shown = ToProto(shell_.state(), worker);
  ASSERT_EQ(shown.devices_size(), 1);
  EXPECT_EQ(shown.devices(0).kind(), "cpu");
  EXPECT_EQ(shown.devices(0).job(), "");
  EXPECT_THAT(shown.devices(0).withheld(), HasSubstr("being probed"));
  request.mutable_devices(0)->clear_withheld();
  request.mutable_devices(0)->mutable_probe()->add_passed("rows/a");
  Announce(request);
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  EXPECT_EQ(ToProto(shell_.state(), worker).devices(0).probe().passed(0),
            "rows/a");
}

TEST_F(ObserveTest, AJobWaitsForADeviceOnWhichItsKernelIsRight) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w");
  request.mutable_devices(0)->mutable_probe()->add_failed()->set_kernel(
      "attention/x");
  Announce(request);
  NewJob named = JobBuilder("named");
  named.OwnSpec().mutable_training()->set_kernel("x");
  ORDO_ASSERT_OK(shell_.Submit(named));
  EXPECT_EQ(shell_.StateOf("named"), Job::QUEUED);
  // The driver has changed.
  request.mutable_devices(0)->mutable_probe()->clear_failed();
  Announce(request);
  EXPECT_EQ(shell_.StateOf("named"), Job::STARTING);
}

TEST_F(ObserveTest, AnUnknownAttemptBlocksAllDevicesUntilItIsGone) {
  Announce(WorkerBuilder("w").Runs(AttemptBuilder("other", 3).Running()));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  shell_.Observe("w", {});
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
}

TEST_F(ObserveTest, AnUnknownAttemptThatTellsItsDevicesBlocksNoOthers) {
  agent::v1::ObservedAttempt other = AttemptBuilder("other", 3).Running();
  other.add_devices("cpu:1");
  Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"}).Runs(other));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  shell_.Ignore();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("b")));
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
  shell_.Ignore();
}

TEST_F(ObserveTest, ARankThatNobodyAskedForChangesNothingOfItsAttempt) {
  StartA();
  agent::v1::ObservedAttempt second = AttemptBuilder("a", 1).Exited(0);
  second.set_rank(1);
  shell_.Observe("w", {AttemptBuilder("a", 1).Running(), second});
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  shell_.Ignore();
}

TEST_F(ObserveTest, ANewIncarnationKeepsWhatItAdopted) {
  StartA();
  Announce(WorkerBuilder("w").Incarnation("second").Runs(
      AttemptBuilder("a", 1).Running().Step(2)));
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  EXPECT_EQ(shell_.job("a").attempts_size(), 1);
}

TEST_F(ObserveTest, ANewIncarnationLosesWhatItDidNotAdopt) {
  StartA();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Incarnation("second")));
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), reason::kWorkerLost);
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
  const auto desired = shell_.TakeDesired("w");
  EXPECT_EQ(desired.incarnation(), "second");
  EXPECT_EQ(desired.attempts(0).attempt(), 2);
}

TEST_F(ObserveTest, ASupersededIncarnationIsAborted) {
  Announce(WorkerBuilder("w"));
  Announce(WorkerBuilder("w").Incarnation("second"));
  EXPECT_THAT(
      shell_.Announce(WorkerBuilder("w")),
      StatusIs(absl::StatusCode::kAborted, HasSubstr("must not share an id")));
}

TEST_F(ObserveTest, AnOlderObservedSetIsIgnored) {
  StartA();
  Announce(WorkerBuilder("w").Sequence(9).Runs(
      AttemptBuilder("a", 1).Running().Step(7)));
  Announce(WorkerBuilder("w").Sequence(8).Runs(
      AttemptBuilder("a", 1).Running().Step(3)));
  EXPECT_EQ(shell_.published_progress("a")->step(), 7);
}

TEST_F(ObserveTest, ADrainingWorkerIsToldToStopAndGetsNoWork) {
  StartA();
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("b")));
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Draining().Sequence(9).Runs(
      AttemptBuilder("a", 1).Running().Step(2))));
  const auto desired = shell_.TakeDesired("w");
  EXPECT_EQ(desired.attempts(0).action(), agent::v1::DesiredAttempt::STOP);
  Announce(WorkerBuilder("w").Draining().Sequence(10).Runs(
      AttemptBuilder("a", 1).Running().Step(2).Exited(10)));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kStopped);
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
  EXPECT_EQ(shell_.published_worker("w")->state(),
            workers::v1::Worker::DRAINING);
}

TEST_F(ObserveTest, AWorkerSaysWhenItWillLeave) {
  StartA();
  const absl::Time leaves = shell_.now().wall + absl::Minutes(5);
  Announce(WorkerBuilder("w").LeavesAt(leaves).Sequence(9).Runs(
      AttemptBuilder("a", 1).Running()));
  EXPECT_EQ(ToTime(shell_.published_worker("w")->leave_time()), leaves);
  // It does so itself.
  shell_.Advance(absl::Seconds(5));
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Announce(
      WorkerBuilder("w").Sequence(10).Runs(AttemptBuilder("a", 1).Running()));
  EXPECT_FALSE(shell_.published_worker("w")->has_leave_time());

  agent::v1::AnnounceRequest request = WorkerBuilder("w").Sequence(11);
  request.mutable_leave_time()->set_nanos(-1);
  EXPECT_EQ(shell_.AnnounceOnly(request).code(),
            absl::StatusCode::kInvalidArgument);
  request.mutable_leave_time()->set_nanos(0);
  request.mutable_leave_time()->set_seconds(int64_t{1} << 60);
  EXPECT_EQ(shell_.AnnounceOnly(request).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ObserveTest, AfterARestartAnAttemptWaitsOneLeaseForItsWorker) {
  StartA();
  shell_.Restart();
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  shell_.Advance(absl::Seconds(9));
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  Announce(WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running().Step(4)));
  EXPECT_EQ(shell_.StateOf("a"), Job::RUNNING);
  shell_.Restart();
  shell_.Advance(absl::Seconds(10));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.ReasonOf("a"), reason::kWorkerLost);
}

TEST_F(ObserveTest, AnAttemptThatWasNeverSentIsSentAfterARestart) {
  Announce(WorkerBuilder("w"));
  ORDO_ASSERT_OK(shell_.Submit(JobBuilder("a")));
  shell_.Ignore();  // The scheduler died before it told the worker.
  shell_.Restart();
  ORDO_ASSERT_OK(shell_.Announce(WorkerBuilder("w").Sequence(5)));
  const auto desired = shell_.TakeDesired("w");
  ASSERT_EQ(desired.attempts_size(), 1);
  EXPECT_EQ(desired.attempts(0).attempt(), 1);
  EXPECT_TRUE(desired.attempts(0).has_train());
}

TEST_F(ObserveTest, ALostWorkerIsForgottenInTheEnd) {
  Announce(WorkerBuilder("w"));
  shell_.Advance(absl::Seconds(11));
  ASSERT_NE(shell_.published_worker("w"), nullptr);
  shell_.Advance(absl::Hours(1));
  EXPECT_EQ(shell_.published_worker("w"), nullptr);
  EXPECT_TRUE(shell_.state().workers.empty());
}

TEST_F(ObserveTest, AnAnswerOfAnUnknownOrLostWorkerChangesNothing) {
  StartA();
  shell_.Advance(absl::Seconds(10));
  shell_.Ignore();
  shell_.Observe("w", {AttemptBuilder("a", 1).Running().Exited(0)});
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.published_worker("w")->state(), workers::v1::Worker::LOST);
}

}  // namespace
}  // namespace ordo::scheduler::core
