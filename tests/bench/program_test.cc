#include "tests/bench/program.h"

#include <cstdlib>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;
using kernels::DeviceName;
using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FlagsTest, SwitchesAreToldBeforeValues) {
  std::vector<std::string> told;
  Flags flags("");
  flags.AddSwitch("--quick", "", [&] { told.push_back("quick"); });
  flags.Add("--json", "FILE", "", [&](const std::string& value) {
    told.push_back(value);
    return value == "bad" ? absl::AbortedError(value) : absl::OkStatus();
  });
  ORDO_EXPECT_OK(flags.Read({"--json", "--quick", "--quick"}));
  EXPECT_THAT(told, ElementsAre("quick", "--quick"));
  EXPECT_THAT(flags.Read({"--json", "bad"}),
              StatusIs(absl::StatusCode::kAborted));
  EXPECT_THAT(flags.Read({"--json"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--json lacks its value")));
  EXPECT_THAT(flags.Read({"--jsn", "x"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown flag '--jsn'; --help")));
}

TEST(FlagsTest, TextsAndNumbersAreKept) {
  std::string file;
  int rounds = 0;
  Flags flags("");
  flags.AddText("--json", "FILE", "", &file);
  flags.AddNumber("--rounds", 9, "", &rounds);
  ORDO_EXPECT_OK(flags.Read({"--json", "a b,c", "--rounds", "7"}));
  EXPECT_EQ(file, "a b,c");
  EXPECT_EQ(rounds, 7);
  EXPECT_THAT(flags.Read({"--rounds", "10"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--rounds: '10' is not a number in 1..9")));
}

TEST(FlagsTest, HelpHasALineForEachFlag) {
  std::string file;
  Flags flags("What it does.\n");
  flags.AddText("--json", "FILE", "where to", &file);
  flags.AddSwitch("--quick", "less of it", [] {});
  EXPECT_EQ(flags.Help(),
            "What it does.\n"
            "\n"
            "  --json FILE          where to\n"
            "  --quick              less of it\n"
            "  --help               prints this\n");
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

TEST(AddDeviceTest, NamesAreThoseOfTheProbe) {
  DeviceName device;
  Flags flags("");
  AddDevice(&flags, &device);
  for (const char* name : {"cpu", "cpu:0", "cuda", "cuda:0", "cuda:1"}) {
    ORDO_EXPECT_OK(flags.Read({"--device", name}));
  }
  EXPECT_EQ(kernels::ToString(device), "cuda:1");
  EXPECT_THAT(flags.Read({"--device", "tpu"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("--device must be cpu, cpu:0, cuda or "
                                 "cuda:<index>, is 'tpu'")));
}

// Which GPU a process sees is chosen once.
class OpenDeviceTest : public ::testing::Test {
 protected:
  OpenDeviceTest() { unsetenv("CUDA_VISIBLE_DEVICES"); }
  ~OpenDeviceTest() override { unsetenv("CUDA_VISIBLE_DEVICES"); }
};

TEST_F(OpenDeviceTest, WhatIsMissingOfAGpuIsSaid) {
  ORDO_EXPECT_OK(OpenDevice({}));
  const absl::Status opened = OpenDevice({Device::kCuda, 99});
  EXPECT_THAT(opened,
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--device: cuda:99 cannot be measured")));
  EXPECT_STREQ(getenv("CUDA_VISIBLE_DEVICES"), "99");
}

TEST_F(OpenDeviceTest, WhereTheEnvironmentChoosesOnlyTheFirstIsThere) {
  setenv("CUDA_VISIBLE_DEVICES", "3", /*overwrite=*/1);
  EXPECT_THAT(OpenDevice({Device::kCuda, 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("--device: cuda:1 cannot be taken where "
                                 "CUDA_VISIBLE_DEVICES")));
  EXPECT_STREQ(getenv("CUDA_VISIBLE_DEVICES"), "3");
}

TEST(OutputsTest, BothAreTriedAndNamed) {
  Outputs outputs;
  Flags flags("");
  outputs.AddTo(&flags);
  ORDO_EXPECT_OK(outputs.Check());
  ORDO_EXPECT_OK(flags.Read({"--json", "/no/such/folder/f"}));
  EXPECT_THAT(outputs.Check(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("--json: ")));
  ORDO_EXPECT_OK(flags.Read({"--json", "", "--plots", "/proc/none"}));
  EXPECT_THAT(outputs.Check(), StatusIs(absl::StatusCode::kFailedPrecondition,
                                        HasSubstr("--plots: ")));
}

}  // namespace
}  // namespace ordo::tests::bench
