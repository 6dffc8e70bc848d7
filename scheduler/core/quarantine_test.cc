#include "scheduler/core/quarantine.h"

#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/exit_code.pb.h"
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
using training::v1::DEVICE_ERROR;
using workers::v1::Worker;

// A worker w with cpu:0.
class QuarantineTest : public CoreTest {
 protected:
  QuarantineTest() { StartWorker(); }

  void Announce(const agent::v1::AnnounceRequest& request) {
    ORDO_ASSERT_OK(shell_.Announce(request));
    shell_.Ignore();
  }
  // An attempt runs on the worker, and its device fails.
  void Fail(const std::string& job, int attempt, int rank = 0,
            const std::string& worker = "w") {
    shell_.Observe(
        worker,
        {AttemptBuilder(job, attempt, rank).Running().Exited(DEVICE_ERROR)});
    shell_.Ignore();
  }
  // A job with one attempt, whose device fails.
  void RunBadly(const std::string& job) {
    Submit(JobBuilder(job).MaxAttempts(1));
    ASSERT_EQ(shell_.StateOf(job), Job::STARTING);
    Fail(job, 1);
  }
  // The driver of cpu:0 tells of a grave fault.
  static agent::v1::AnnounceRequest WithFault(
      const agent::v1::AnnounceRequest& request, int64_t time) {
    agent::v1::AnnounceRequest told = request;
    auto& fault = *told.mutable_devices(0)->add_faults();
    fault.set_code("XID_79");
    fault.set_message("it has fallen off the bus");
    fault.set_grave(true);
    fault.mutable_time()->set_seconds(time);
    return told;
  }
  absl::StatusOr<Worker> Release(const std::string& device = "cpu:0") {
    ChangeWorker change;
    change.verb = ChangeWorker::Verb::kRelease;
    change.worker = "w";
    change.device = device;
    change.author.owner.set_user("ada");
    const auto worker = shell_.Change(change);
    shell_.Ignore();
    return worker;
  }
  bool IsIn(const std::string& device, const std::string& worker = "w") const {
    return shell_.state().workers.at(worker).quarantined.count(device) > 0;
  }
  size_t NumBlames(const std::string& worker = "w") const {
    const WorkerAdminPtr admin = AdminOf(shell_.state(), worker);
    return admin == nullptr ? 0 : admin->devices(0).blames_size();
  }
};

TEST_F(QuarantineTest, ADeviceThatFailsThreeJobsInARowGetsNoMore) {
  for (const char* job : {"a", "b", "c"}) RunBadly(job);
  EXPECT_TRUE(IsIn("cpu:0"));
  EXPECT_EQ(shell_.Counted(Count::What::kQuarantine, "failures"), 1);
  ASSERT_NE(shell_.published_worker("w"), nullptr);
  EXPECT_TRUE(shell_.published_worker("w")->devices(0).has_quarantine());
  Submit(JobBuilder("d"));
  EXPECT_EQ(shell_.StateOf("d"), Job::QUEUED);
}

TEST_F(QuarantineTest, APersonReleasesIt) {
  for (const char* job : {"a", "b", "c"}) RunBadly(job);
  Submit(JobBuilder("d"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Worker worker, Release());
  EXPECT_FALSE(worker.devices(0).has_quarantine());
  EXPECT_EQ(worker.changes(0).action(), "release cpu:0");
  EXPECT_EQ(shell_.StateOf("d"), Job::STARTING);
}

TEST_F(QuarantineTest, ItOutlivesTheSchedulerAndTheWorker) {
  for (const char* job : {"a", "b", "c"}) RunBadly(job);
  shell_.Restart();
  Announce(WorkerBuilder("w").Incarnation("second"));
  EXPECT_TRUE(IsIn("cpu:0"));
  Submit(JobBuilder("d"));
  EXPECT_EQ(shell_.StateOf("d"), Job::QUEUED);
  ORDO_EXPECT_OK(Release());
  EXPECT_EQ(shell_.StateOf("d"), Job::STARTING);
}

TEST_F(QuarantineTest, FailuresOfOtherKindsAreBlamedOnNoDevice) {
  for (const char* job : {"a", "b", "c", "d"}) {
    Submit(JobBuilder(job).MaxAttempts(1));
    Observe(
        AttemptBuilder(job, 1).Running().Exited(training::v1::OUT_OF_MEMORY));
  }
  for (const char* job : {"e", "f", "g", "h"}) {
    Submit(JobBuilder(job).MaxAttempts(1));
    Observe(AttemptBuilder(job, 1).Running().Exited(training::v1::NCCL_ERROR));
  }
  EXPECT_EQ(NumBlames(), 0u);
}

TEST_F(QuarantineTest, AJobThatFinishesEndsTheRow) {
  RunBadly("a");
  RunBadly("b");
  Submit(JobBuilder("good"));
  Observe(AttemptBuilder("good", 1).Running().Exited(0));
  RunBadly("c");
  EXPECT_FALSE(IsIn("cpu:0"));
  EXPECT_EQ(NumBlames(), 1u);
}

TEST_F(QuarantineTest, AJobThatFailsOnTwoDevicesIsToBlameItself) {
  Submit(JobBuilder("a"));
  Fail("a", 1);
  EXPECT_EQ(NumBlames(), 1u);
  Announce(WorkerBuilder("v"));
  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  ASSERT_EQ(shell_.job("a").attempts(1).worker(), "v");
  Fail("a", 2, 0, "v");
  EXPECT_EQ(NumBlames(), 0u);
  EXPECT_EQ(NumBlames("v"), 0u);
}

TEST_F(QuarantineTest, AnotherAttemptRunsOnAnotherDeviceOfTheWorker) {
  Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"}));
  Submit(JobBuilder("a"));
  ASSERT_EQ(shell_.job("a").attempts(0).devices(0), "cpu:0");
  Fail("a", 1);
  shell_.Restart();
  Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"}));
  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  ASSERT_EQ(shell_.job("a").attempts_size(), 2);
  EXPECT_EQ(shell_.job("a").attempts(1).devices(0), "cpu:1");
}

TEST_F(QuarantineTest, TheOnlyDeviceGetsAnotherAttempt) {
  Submit(JobBuilder("a"));
  Fail("a", 1);
  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  EXPECT_EQ(shell_.StateOf("a"), Job::STARTING);
}

TEST_F(QuarantineTest, OfSeveralDevicesTheOneThatWasComputedOnIsBlamed) {
  const agent::v1::AnnounceRequest two =
      WorkerBuilder("w").Devices({"cpu:0", "cpu:1"});
  Announce(two);
  for (const char* job : {"a", "b", "c"}) {
    Submit(JobBuilder(job).Ranks(1, 2).MaxAttempts(1));
    ASSERT_EQ(shell_.job(job).attempts(0).devices(0), "cpu:0");
    Fail(job, 1);
  }
  EXPECT_TRUE(IsIn("cpu:0"));
  EXPECT_FALSE(IsIn("cpu:1"));
}

TEST_F(QuarantineTest, AnotherAttemptComputesOnAnotherOfTheDevices) {
  Announce(WorkerBuilder("w").Devices({"cpu:0", "cpu:1"}));
  Submit(JobBuilder("a").Ranks(1, 2));
  Fail("a", 1);
  shell_.Advance(absl::Seconds(2));
  shell_.Ignore();
  ASSERT_EQ(shell_.job("a").attempts_size(), 2);
  EXPECT_EQ(shell_.job("a").attempts(1).devices(0), "cpu:1");
  Fail("a", 2);
  // It failed on both alike.
  EXPECT_EQ(NumBlames(), 0u);
}

TEST_F(QuarantineTest, OfAGangTheRankThatFailsFirstIsBlamed) {
  Announce(WorkerBuilder("v"));
  Submit(JobBuilder("a").Ranks(2));
  ASSERT_EQ(shell_.StateOf("a"), Job::STARTING);
  const auto& ranks = LiveIn(shell_.state().jobs.at("a"))->ranks;
  const std::string first = ranks[1].worker;
  const std::string second = ranks[0].worker;
  Fail("a", 1, 1, first);
  Fail("a", 1, 0, second);
  EXPECT_EQ(NumBlames(first), 1u);
  EXPECT_EQ(NumBlames(second), 0u);
}

TEST_F(QuarantineTest, AGraveFaultMovesWhatRunsThere) {
  Submit(JobBuilder("a"));
  Observe(AttemptBuilder("a", 1).Running());
  ORDO_ASSERT_OK(shell_.Announce(
      WithFault(WorkerBuilder("w").Runs(AttemptBuilder("a", 1).Running()), 5)));
  EXPECT_EQ(shell_.TakeDesired("w").attempts(0).action(), DesiredAttempt::STOP);
  shell_.Ignore();
  EXPECT_EQ(shell_.Counted(Count::What::kQuarantine, "fault"), 1);
  Observe(AttemptBuilder("a", 1).Running().Exited(training::v1::STOPPED));
  EXPECT_EQ(shell_.StateOf("a"), Job::QUEUED);
  EXPECT_EQ(shell_.job("a").attempts(0).reason(), "STOPPED");
  Announce(WorkerBuilder("v"));
  EXPECT_EQ(shell_.job("a").attempts(1).worker(), "v");
}

TEST_F(QuarantineTest, AFaultThatIsToldAgainAfterAReleaseIsOver) {
  Announce(WithFault(WorkerBuilder("w"), 5));
  EXPECT_TRUE(IsIn("cpu:0"));
  ORDO_EXPECT_OK(Release());
  Announce(WithFault(WorkerBuilder("w"), 5));
  shell_.Restart();
  Announce(WithFault(WorkerBuilder("w"), 5));
  EXPECT_FALSE(IsIn("cpu:0"));
  Announce(WithFault(WorkerBuilder("w"), 6));
  EXPECT_TRUE(IsIn("cpu:0"));
}

TEST_F(QuarantineTest, ItFollowsTheDeviceThatABootNumbersAnew) {
  const auto gpus = [](const std::string& first, const std::string& second) {
    agent::v1::AnnounceRequest request =
        WorkerBuilder("w").Devices({"cuda:0", "cuda:1"});
    request.mutable_devices(0)->set_uuid(first);
    request.mutable_devices(1)->set_uuid(second);
    return request;
  };
  Announce(WithFault(gpus("GPU-a", "GPU-b"), 5));
  EXPECT_TRUE(IsIn("cuda:0"));
  agent::v1::AnnounceRequest booted = gpus("GPU-b", "GPU-a");
  booted.set_incarnation("second");
  Announce(booted);
  EXPECT_FALSE(IsIn("cuda:0"));
  EXPECT_TRUE(IsIn("cuda:1"));
  shell_.Restart();
  Announce(booted);
  EXPECT_TRUE(shell_.published_worker("w")->devices(1).has_quarantine());
  Submit(JobBuilder("a").Device("cuda"));
  EXPECT_EQ(shell_.job("a").attempts(0).devices(0), "cuda:0");
  Submit(JobBuilder("b").Device("cuda"));
  EXPECT_EQ(shell_.StateOf("b"), Job::QUEUED);
}

TEST_F(QuarantineTest, AFailureIsHeldAgainstTheUuid) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w");
  request.mutable_devices(0)->set_uuid("GPU-a");
  Announce(request);
  RunBadly("a");
  EXPECT_EQ(AdminOf(shell_.state(), "w")->devices(0).uuid(), "GPU-a");
}

TEST_F(QuarantineTest, AWorkerDoesNotSayWhatIsInQuarantine) {
  agent::v1::AnnounceRequest request = WorkerBuilder("w");
  request.mutable_devices(0)->mutable_quarantine()->set_reason("so it says");
  Announce(request);
  EXPECT_FALSE(shell_.published_worker("w")->devices(0).has_quarantine());
}

TEST_F(QuarantineTest, DeviceNobodyKnowsIsNotFound) {
  EXPECT_THAT(Release("cpu:7"), StatusIs(absl::StatusCode::kNotFound));
  // One that has left since can be released.
  Announce(WithFault(WorkerBuilder("w"), 5));
  Announce(WorkerBuilder("w").Devices({"cpu:1"}));
  ORDO_EXPECT_OK(Release());
}

}  // namespace
}  // namespace ordo::scheduler::core
