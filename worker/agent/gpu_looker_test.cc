#include "worker/agent/gpu_looker.h"

#include <chrono>

#include "base/files/testing/temporary_folder.h"
#include "base/mutex.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/testing/made_up_gpus.h"

namespace ordo::worker::agent {
namespace {

TEST(GpuLookerTest, SaysWhatTheDriverSaysOfEachGpu) {
  base::testing::TemporaryFolder folder;
  testing::MadeUpGpus gpus(folder.path());
  gpus.Write("0 GPU-a 1000 10 77:9\n1 GPU-b 1000 0 dead\nxid 0 79\n");
  auto nvml = gpus.Load();
  ORDO_ASSERT_OK(nvml);
  base::Mutex mutex;
  base::CondVar changed;
  bool woken = false;
  GpuLooker looker(*std::move(nvml), [&] {
    base::MutexLock lock(mutex);
    woken = true;
    changed.NotifyAll();
  });

  looker.Begin();
  {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    base::MutexLock lock(mutex);
    while (!woken) ASSERT_TRUE(changed.WaitUntil(mutex, deadline));
  }
  const auto look = looker.Take();

  ASSERT_TRUE(look.has_value());
  EXPECT_EQ(look->uses.at("GPU-a")->processes[0].pid, 77);
  ASSERT_EQ(look->faults.size(), 1u);
  EXPECT_EQ(look->faults[0].uuid, "GPU-a");
  EXPECT_FALSE(looker.Take().has_value());
}

}  // namespace
}  // namespace ordo::worker::agent
