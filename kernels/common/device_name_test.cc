#include "kernels/common/device_name.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels {
namespace {

using ::testing::HasSubstr;

TEST(ParseDeviceTest, DevicesAreNamedWithTheirNumberOrWithout) {
  for (const char* name : {"cpu", "cpu:0"}) {
    const auto cpu = ParseDevice(name);
    ASSERT_TRUE(cpu.ok()) << cpu.status();
    EXPECT_EQ(cpu->device, Device::kCpu);
    EXPECT_EQ(ToString(*cpu), "cpu");
  }
  EXPECT_EQ(ToString(ParseDevice("cuda").value()), "cuda:0");
  const DeviceName second = ParseDevice("cuda:1").value();
  EXPECT_EQ(second.device, Device::kCuda);
  EXPECT_EQ(second.index, 1);
  EXPECT_EQ(ToString(second), "cuda:1");
}

TEST(ParseDeviceTest, WhatIsNoNameIsRefusedWithThoseThereAre) {
  for (const char* name :
       {"", "gpu", "cpu:1", "cuda:", "cuda:x", "cuda:-1", "cuda:0:1"}) {
    const absl::Status status = ParseDevice(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("cpu, cpu:0, cuda or cuda:<index>, is '" +
                          std::string(name) + "'"));
  }
}

TEST(SeeGpuTest, WhatTheEnvironmentSaysStands) {
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_FALSE(GpusAreChosen());
  SeeGpu(1);
  EXPECT_STREQ(getenv("CUDA_VISIBLE_DEVICES"), "1");
  // As nvidia-smi counts them.
  EXPECT_STREQ(getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
  EXPECT_TRUE(GpusAreChosen());
  SeeGpu(2);
  EXPECT_STREQ(getenv("CUDA_VISIBLE_DEVICES"), "1");
}

}  // namespace
}  // namespace ordo::kernels
