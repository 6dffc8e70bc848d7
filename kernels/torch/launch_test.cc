#include "kernels/torch/launch.h"

#include <atomic>
#include <cstdlib>

#include <torch/library.h>

#include "ATen/EmptyTensor.h"
#include "ATen/Parallel.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/zeros.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "c10/core/impl/DeviceGuardImplInterface.h"
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

// What LibTorch has for GPUs, as far as a launch asks for it: the current one
// and its stream, the address of its number; and memory, of the host.
c10::DeviceIndex current = 0;
constexpr c10::DeviceIndex kNumGpus = 4;
constexpr char kStreams[kNumGpus] = {};

struct Gpus final : c10::impl::NoOpDeviceGuardImpl<c10::DeviceType::CUDA> {
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    current = device.index();
    return before;
  }
  c10::Device getDevice() const override { return {at::kCUDA, current}; }
  void setDevice(c10::Device device) const override {
    current = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current = device.index();
  }
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return const_cast<char*>(kStreams + stream.device_index());
  }
  c10::DeviceIndex deviceCount() const noexcept override { return kNumGpus; }
};

struct GpuMemory final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    void* const memory = std::malloc(bytes);
    return {memory, memory, std::free, c10::Device(at::kCUDA, current)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

// at::empty, of its first argument's shape and on the device of its fourth.
void EmptyOnGpu(const c10::OperatorHandle& op, c10::Stack* stack) {
  static GpuMemory memory;
  const size_t count = op.schema().arguments().size();
  const auto* const arguments = &*(stack->end() - count);
  const c10::DeviceGuard on_device(arguments[3].toDevice());
  const at::Tensor made = at::detail::empty_generic(
      arguments[0].toDimVector(), &memory,
      c10::DispatchKeySet(c10::DispatchKey::CUDA),
      arguments[1].isNone() ? at::kFloat : arguments[1].toScalarType(),
      std::nullopt);
  stack->resize(stack->size() - count);
  stack->emplace_back(made);
}

TEST(LaunchTest, APassIsQueuedOnTheGpuOfItsTensors) {
  static const Gpus gpus;
  auto& known = c10::impl::device_guard_impl_registry[static_cast<size_t>(
      c10::DeviceType::CUDA)];
  const auto* const before = known.exchange(&gpus);
  {
    ::torch::Library library(::torch::Library::IMPL, "aten",
                             c10::DispatchKey::CUDA, __FILE__, __LINE__);
    library.impl("empty.memory_format",
                 ::torch::CppFunction::makeFromBoxedFunction<&EmptyOnGpu>());
    const at::Tensor x = at::empty({2, 3}, at::device(at::Device("cuda:2")));
    EXPECT_EQ(current, 0);
    {
      const Launch launch(1000, x);
      EXPECT_EQ(current, 2);
      EXPECT_EQ(launch.resources().stream, kStreams + 2);
      EXPECT_NE(launch.resources().workspace, nullptr);
      EXPECT_EQ(launch.resources().run, nullptr);
    }
    EXPECT_EQ(current, 0);
  }
  known.store(before);
}

// Each waits for the other to have begun.
TEST(LaunchTest, TasksRunAtTheSameTime) {
  at::set_num_threads(2);
  const Launch launch(0, at::zeros({1}));
  absl::Notification begun[2];
  std::atomic<int> met{0};
  launch.resources().run(2, [&](int64_t i, int /*thread*/) {
    begun[i].Notify();
    met += begun[1 - i].WaitForNotificationWithTimeout(absl::Seconds(20));
  });
  EXPECT_EQ(met, 2);
}

TEST(LaunchTest, WorkspaceIsAlignedAndAllTasksAreRun) {
  const Launch launch(1000, at::zeros({1}));
  EXPECT_EQ(
      reinterpret_cast<uintptr_t>(launch.resources().workspace) % uintptr_t{64},
      uintptr_t{0});
  std::atomic<int> sum{0};
  launch.resources().run(10, [&](int64_t i, int thread) {
    EXPECT_LT(thread, NumThreads());
    sum += static_cast<int>(i);
  });
  EXPECT_EQ(sum, 45);
}

}  // namespace
}  // namespace ordo::kernels::torch
