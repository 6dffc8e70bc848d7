#include "tests/bench/program.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReadFlagsTest, SwitchesAreToldBeforeValues) {
  std::vector<std::string> told;
  Flags flags;
  flags.switches["--quick"] = [&] { told.push_back("quick"); };
  flags.values["--json"] = [&](const std::string& value) {
    told.push_back(value);
    return value == "bad" ? absl::AbortedError(value) : absl::OkStatus();
  };
  ORDO_EXPECT_OK(ReadFlags({"--json", "--quick", "--quick"}, flags));
  EXPECT_THAT(told, ElementsAre("quick", "--quick"));
  EXPECT_THAT(ReadFlags({"--json", "bad"}, flags),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(ReadFlags({"--json"}, flags),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--json lacks its value")));
  EXPECT_THAT(ReadFlags({"--jsn", "x"}, flags),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown flag '--jsn'")));
}

TEST(ReadFlagsTest, ATextIsKeptAsItIs) {
  std::string file;
  Flags flags;
  flags.AddText("--json", &file);
  ORDO_EXPECT_OK(ReadFlags({"--json", "a b,c"}, flags));
  EXPECT_EQ(file, "a b,c");
}

TEST(ReadNumberTest, WhatIsNoneIsRefusedWithItsFlag) {
  int number = 0;
  ORDO_EXPECT_OK(ReadNumber("--rounds", "9", 9, &number));
  EXPECT_EQ(number, 9);
  for (const char* value : {"0", "10", "x", "1.5"}) {
    EXPECT_THAT(
        ReadNumber("--rounds", value, 9, &number),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--rounds: ")));
  }
}

TEST(ExitCodeTest, SaysWhetherAnotherCommandLineWouldHelp) {
  EXPECT_EQ(ExitCodeOf("x", absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf("x", absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeOf("x", absl::FailedPreconditionError("")), 2);
  EXPECT_EQ(ExitCodeOf("x", absl::NotFoundError("")), 2);
  EXPECT_EQ(ExitCodeOf("x", absl::InternalError("")), 1);
}

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
