#include "kernels/torch/launch.h"

#include <atomic>

#include "ATen/ops/empty.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

TEST(LaunchTest, OnlyNumbersOfKernelsSideBySideAreReadable) {
  EXPECT_TRUE(IsReadable(at::zeros({2, 3})));
  EXPECT_TRUE(IsReadable(at::zeros({2, 3}, at::kBFloat16)));
  EXPECT_TRUE(IsReadable(at::zeros({2, 3, 4}).transpose(0, 1)));
  EXPECT_FALSE(IsReadable(at::zeros({2, 3}, at::kDouble)));
  EXPECT_FALSE(IsReadable(at::zeros({2, 3}, at::kHalf)));
  EXPECT_FALSE(IsReadable(at::zeros({2, 3}).t()));
  EXPECT_FALSE(IsReadable(at::zeros({0, 3})));
  EXPECT_FALSE(IsReadable({}));
  EXPECT_TRUE(IsReadable(InRows(at::zeros({2, 3}).t())));
}

// Half floats are for kernels of a GPU.
TEST(LaunchTest, TypesHaveTheirNamesOnAGpu) {
  for (const c10::ScalarType scalar : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const at::Tensor x = at::zeros(
        {2, 3}, at::TensorOptions(scalar).device(c10::Device(at::kMeta)));
    EXPECT_TRUE(IsReadable(x)) << scalar;
    EXPECT_EQ(ScalarOf(TypeOf(x)), scalar);
  }
  EXPECT_EQ(ScalarOf(Type::kFloat16), at::kHalf);
}

TEST(LaunchTest, KernelsAreForTensorsOfOneDevice) {
  const at::Tensor host = at::zeros({2, 3});
  const at::Tensor other = at::zeros({2, 3}, at::device(at::kMeta));
  EXPECT_EQ(DeviceOfAll({host, host}), Device::kCpu);
  EXPECT_EQ(DeviceOfAll({other, other}), Device::kCuda);
  EXPECT_EQ(DeviceOfAll({host, other}), std::nullopt);
  EXPECT_EQ(DeviceOfAll({host, at::zeros({2, 3}, at::kDouble)}), std::nullopt);
}

TEST(LaunchTest, ACopyIsOnItsDeviceAndWhatIsThereIsTakenAsItIs) {
  const at::Tensor host = at::zeros({2, 3});
  EXPECT_TRUE(CopyTo(host, at::kCPU).is_same(host));
  EXPECT_TRUE(CopyTo(host, at::kMeta).device().is_meta());
}

TEST(LaunchTest, MemoryIsWhereTheTensorsAre) {
  const at::Tensor other = at::zeros({2, 3}, at::device(at::kMeta));
  const Launch launch(1000, other);
  EXPECT_EQ(launch.resources().workspace, nullptr);
  EXPECT_EQ(launch.resources().run, nullptr);
}

TEST(LaunchTest, WorkspaceIsAlignedAndAllTasksAreRun) {
  const Launch launch(1000, at::zeros({1}));
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(launch.resources().workspace) % uintptr_t{64},
      uintptr_t{0});
  std::atomic<int> sum{0};
  launch.resources().run(10, [&](int64_t i, int thread) {
    EXPECT_LT(thread, Launch::Threads());
    sum += static_cast<int>(i);
  });
  EXPECT_EQ(sum, 45);
}

}  // namespace
}  // namespace ordo::kernels::torch
