#include "scheduler/core/state.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/test_shell.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::ElementsAre;
using testing::JobBuilder;
using ::testing::Pair;
using testing::TestShell;
using testing::WorkerBuilder;

TEST(StateTest, NamesAndIds) {
  EXPECT_EQ(JobName("a"), "jobs/a");
  EXPECT_EQ(CheckpointName("a", "5-1"), "jobs/a/checkpoints/5-1");
  EXPECT_EQ(ReportName("a", "r-5"), "jobs/a/reports/r-5");
  EXPECT_EQ(IdOf("jobs/a/reports/r-5"), "r-5");
  EXPECT_EQ(IdOf("a"), "a");
  EXPECT_EQ(CheckpointId({1, 5}), "5-1");
}

TEST(StateTest, ADeviceLacksWhatItsProbeFoundWrongOrNotForIt) {
  workers::v1::Device device;
  training::v1::KernelProbe& probe = *device.mutable_probe();
  probe.add_passed("attention/right");
  probe.add_failed()->set_kernel("attention/wrong");
  probe.mutable_failed(0)->set_message("it hung");
  probe.add_refused()->set_kernel("rows/other");
  probe.mutable_refused(0)->set_message("no AVX-512");
  EXPECT_THAT(
      LackingKernels(device),
      ElementsAre(Pair("attention/wrong", "failed its probe there: it hung"),
                  Pair("rows/other", "cannot run there: no AVX-512")));
}

TEST(StateTest, TheNewestCheckpointIsThatOfTheLargestStepThatIsThere) {
  JobEntry entry;
  EXPECT_EQ(NewestCheckpoint(entry), nullptr);
  const auto add = [&entry](int64_t step, int32_t attempt,
                            checkpoints::v1::Checkpoint::State state) {
    auto checkpoint = std::make_shared<checkpoints::v1::Checkpoint>();
    checkpoint->set_step(step);
    checkpoint->set_attempt(attempt);
    checkpoint->set_state(state);
    entry.checkpoints[{step, attempt}] = checkpoint;
  };
  add(5, 1, checkpoints::v1::Checkpoint::AVAILABLE);
  add(5, 2, checkpoints::v1::Checkpoint::AVAILABLE);
  add(9, 1, checkpoints::v1::Checkpoint::DELETED);
  EXPECT_EQ(NewestCheckpoint(entry)->attempt(), 2);
}

TEST(StateTest, AWorkerShowsWhoHoldsItsDevices) {
  TestShell shell;
  ORDO_ASSERT_OK(
      shell.Announce(WorkerBuilder("w").Devices({"cpu:0", "cuda:0"})));
  shell.Ignore();
  ORDO_ASSERT_OK(shell.Submit(JobBuilder("a")));
  shell.Ignore();
  const workers::v1::Worker& worker = *shell.published_worker("w");
  EXPECT_EQ(worker.name(), "workers/w");
  EXPECT_EQ(worker.state(), workers::v1::Worker::ONLINE);
  EXPECT_EQ(worker.devices(0).job(), "jobs/a");
  EXPECT_EQ(worker.devices(0).attempt(), 1);
  EXPECT_EQ(worker.devices(1).kind(), "cuda");
  EXPECT_EQ(worker.devices(1).job(), "");
}

}  // namespace
}  // namespace ordo::scheduler::core
