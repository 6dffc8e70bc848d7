#include "worker/agent/offers.h"

#include <chrono>
#include <functional>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>

#include "absl/strings/match.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/metrics/metrics.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/orphans.h"
#include "worker/agent/testing/made_up_gpus.h"
#include "worker/agent/testing/programs.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::ordo::workers::v1::Device;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGpu[] = "cuda:0";

class OffersTest : public ::testing::Test {
 protected:
  void Make() {
    task_ = testing::FakeTaskOptions(folder_.path(), "");
    Offers::Options options;
    options.devices.emplace_back();
    options.devices[0].set_name(kGpu);
    options.devices[0].set_kind("cuda");
    options.devices[0].set_uuid("GPU-a");
    options.nvml = *gpus_.Load();
    options.wake = [] {};
    offers_ = std::make_unique<Offers>(
        task_, options,
        ProberTools{files_, clock_, metrics_,
                    [](const std::function<void()>& work) { work(); }});
  }
  // Takes turns until the device shows what is wanted; false at the deadline.
  bool StepUntil(const std::function<bool(const Device&)>& wanted) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      offers_->Step(turn_);
      int status = 0;
      const pid_t child = waitpid(-1, &status, WNOHANG);
      if (child > 0) {
        offers_->OnExit(child, {WEXITSTATUS(status), WTERMSIG(status)});
      }
      if (wanted(offers_->Devices()[0])) return true;
      std::this_thread::yield();
    }
    return false;
  }
  // Has the next Step look, whenever the next look would be due.
  void Look() { offers_->MemoryIsBack({kGpu}, clock_.Monotonic()); }
  bool StepUntilOffered() {
    return StepUntil(
        [](const Device& shown) { return shown.withheld().empty(); });
  }

  base::testing::TemporaryFolder folder_;
  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::MetricsRegistry registry_;
  WorkerMetrics metrics_{registry_};
  testing::MadeUpGpus gpus_{folder_.path()};
  TaskOptions task_;
  std::unique_ptr<Offers> offers_;
  Offers::Turn turn_{true, {}, false};
};

TEST_F(OffersTest, AGpuIsProbedOnceNobodyHasItsMemory) {
  gpus_.Write("0 GPU-a 1000 600 4711:600\n");
  Make();
  ASSERT_TRUE(StepUntil([](const Device& shown) {
    return absl::StrContains(shown.withheld(), "process 4711");
  }));
  EXPECT_EQ(offers_->file(), -1);
  EXPECT_THAT(offers_->CheckOffered({kGpu}),
              StatusIs(absl::StatusCode::kUnavailable));
  gpus_.Write("0 GPU-a 1000 0\n");
  EXPECT_TRUE(StepUntilOffered());
  EXPECT_TRUE(offers_->Devices()[0].has_probe());
  ORDO_EXPECT_OK(offers_->CheckOffered({kGpu}));
}

TEST_F(OffersTest, FaultsAreNewsAndFreeMemoryIsNot) {
  gpus_.Write("0 GPU-a 1000 0\n");
  Make();
  ASSERT_TRUE(StepUntilOffered());
  turn_.held = {kGpu};
  const int64_t before = offers_->urgent_sequence();
  gpus_.Write("0 GPU-a 1000 300 4711:300\n");
  Look();
  ASSERT_TRUE(StepUntil([](const Device& shown) {
    return shown.free_memory_bytes() == int64_t{700} << 20;
  }));
  EXPECT_EQ(offers_->urgent_sequence(), before);
  gpus_.Write("0 GPU-a 1000 300 4711:300\nxid 0 79\n");
  Look();
  ASSERT_TRUE(
      StepUntil([](const Device& shown) { return shown.faults_size() == 1; }));
  EXPECT_GT(offers_->urgent_sequence(), before);
  EXPECT_TRUE(offers_->Devices()[0].faults(0).grave());
}

TEST_F(OffersTest, AnOrphanIsEndedAndCountedBeforeAnythingIsOffered) {
  gpus_.Write("0 GPU-a 1000 0\n");
  Make();
  base::SpawnOptions sleep;
  sleep.argv = {"/bin/sleep", "300"};
  sleep.environment = {{"ORDO_TASK=" + task_.state_folder + "/tasks/gone.1"}};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto orphan, base::Spawn(sleep));
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (FindOrphans(task_.state_folder, {}).empty() &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }

  offers_->EndOrphans({});

  EXPECT_THAT(offers_->Devices()[0].withheld(),
              HasSubstr(std::to_string(orphan.pid)));
  EXPECT_TRUE(StepUntilOffered());
  EXPECT_THAT(FindOrphans(task_.state_folder, {}), IsEmpty());
  EXPECT_EQ(metrics_.orphans_reaped.With({}).Value(), 1);
}

}  // namespace
}  // namespace ordo::worker::agent
