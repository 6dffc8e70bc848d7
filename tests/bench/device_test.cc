#include "tests/bench/device.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;
using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ReadDeviceTest, NamesAreThoseOfLibTorch) {
  Device device = Device::kCpu;
  ORDO_EXPECT_OK(ReadDevice("cpu", &device));
  EXPECT_EQ(device, Device::kCpu);
  ORDO_EXPECT_OK(ReadDevice("cuda:0", &device));
  EXPECT_EQ(device, Device::kCuda);
  EXPECT_THAT(ReadDevice("tpu", &device),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--device: 'tpu' is not cpu, cuda or")));
}

TEST(OpenDeviceTest, WhatIsMissingOfAGpuIsSaid) {
  ORDO_EXPECT_OK(OpenDevice(Device::kCpu));
  const absl::Status opened = OpenDevice(Device::kCuda);
  if (opened.ok()) GTEST_SKIP() << "there is a GPU";
  EXPECT_THAT(opened, StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("--device: cuda cannot be measured")));
}

}  // namespace
}  // namespace ordo::tests::bench
