#include "worker/trainer/memory.h"

#include "ATen/ops/ones.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

TEST(MemoryTest, WhatWasHeldOnceCountsFromThenOn) {
  const c10::Device cpu(c10::DeviceType::CPU);
  const int64_t before = PeakMemoryBytes(cpu);
  EXPECT_GT(before, 0);
  {
    // 256 MiB of floats.
    const at::Tensor held = at::ones({int64_t{64} << 20});
    EXPECT_EQ(held[7].item<float>(), 1);
  }
  const int64_t after = PeakMemoryBytes(cpu);
  EXPECT_GE(after - before, int64_t{200} << 20);
  EXPECT_GE(PeakMemoryBytes(cpu), after);
}

}  // namespace
}  // namespace ordo::worker::trainer
