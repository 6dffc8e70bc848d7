#include "worker/agent/nvml.h"

#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/agent/testing/made_up_gpus.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kMib = 1 << 20;

class NvmlTest : public ::testing::Test {
 protected:
  std::unique_ptr<Nvml> Load(const std::string& text) {
    gpus_.Write(text);
    auto nvml = gpus_.Load();
    EXPECT_TRUE(nvml.ok()) << nvml.status();
    return nvml.ok() ? *std::move(nvml) : nullptr;
  }

  base::testing::TemporaryFolder folder_;
  testing::MadeUpGpus gpus_{folder_.path()};
};

TEST_F(NvmlTest, AMachineWithoutTheLibraryHasNoGpus) {
  EXPECT_THAT(Nvml::Load("/no/such/libnvidia-ml.so.1"),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlTest, ALibraryThatIsAnotherIsTooOld) {
  EXPECT_THAT(Nvml::Load("libc.so.6"), StatusIs(absl::StatusCode::kUnavailable,
                                                HasSubstr("nvmlInit_v2")));
}

TEST_F(NvmlTest, ADriverThatDoesNotWorkSaysWhy) {
  EXPECT_THAT(gpus_.Load(), StatusIs(absl::StatusCode::kUnavailable,
                                     HasSubstr("Driver Not Loaded")));
}

TEST_F(NvmlTest, GpusAreNamedByTheirDeviceFiles) {
  const auto nvml = Load("10 GPU-ten 1000 0\n2 GPU-two 81559 100\n");
  ASSERT_EQ(nvml->gpus().size(), 2u);
  const Gpu& gpu = nvml->gpus()[0];
  EXPECT_EQ(gpu.device, "cuda:2");
  EXPECT_EQ(gpu.uuid, "GPU-two");
  EXPECT_EQ(gpu.model, "Made-up GPU");
  EXPECT_EQ(gpu.memory_bytes, 81559 * kMib);
  EXPECT_EQ(gpu.driver_version, "550.54.15");
  EXPECT_EQ(nvml->gpus()[1].device, "cuda:10");
}

TEST_F(NvmlTest, AGpuThatDoesNotAnswerDoesNotTakeTheOthersWithIt) {
  const auto nvml = Load("0 GPU-a 1000 0 dead\n1 GPU-b 1000 0\n");
  ASSERT_EQ(nvml->gpus().size(), 1u);
  EXPECT_EQ(nvml->gpus()[0].device, "cuda:1");
}

TEST_F(NvmlTest, UseSaysWhoHasHowMuch) {
  const auto nvml = Load("0 GPU-a 1000 700 41:500 42:100 draw:60\n");
  const auto use = nvml->Use("GPU-a");
  ORDO_ASSERT_OK(use);
  EXPECT_EQ(use->free_bytes, 300 * kMib);
  EXPECT_EQ(use->used_bytes, 700 * kMib);
  EXPECT_EQ(use->drawing_bytes, 60 * kMib);
  ASSERT_EQ(use->processes.size(), 2u);
  EXPECT_EQ(use->processes[0].pid, 41);
  EXPECT_EQ(use->processes[0].bytes, 500 * kMib);
}

TEST_F(NvmlTest, UseTellsWhatTheDriverMeasures) {
  const auto nvml = Load(
      "0 GPU-a 1000 0 util:75 temp:61 power:250500 corrected:3 uncorrected:1\n"
      "1 GPU-b 1000 0 temp:40\n");
  const auto a = nvml->Use("GPU-a");
  ORDO_ASSERT_OK(a);
  EXPECT_EQ(a->utilization, 0.75);
  EXPECT_EQ(a->temperature_celsius, 61);
  EXPECT_EQ(a->power_watts, 250.5);
  EXPECT_EQ(a->corrected_errors, 3);
  EXPECT_EQ(a->uncorrected_errors, 1);
  const auto b = nvml->Use("GPU-b");
  ORDO_ASSERT_OK(b);
  EXPECT_EQ(b->temperature_celsius, 40);
  EXPECT_FALSE(b->utilization.has_value());
  EXPECT_FALSE(b->power_watts.has_value());
  EXPECT_FALSE(b->corrected_errors.has_value());
}

TEST_F(NvmlTest, ManyProcessesAreAllListed) {
  std::string line = "0 GPU-a 1000 700";
  for (int pid = 1; pid <= 100; ++pid) line += " " + std::to_string(pid) + ":1";
  const auto nvml = Load(line + "\n");
  EXPECT_EQ(nvml->Use("GPU-a")->processes.size(), 100u);
}

TEST_F(NvmlTest, AGpuThatIsLostIsUnavailable) {
  const auto nvml = Load("0 GPU-a 1000 0\n");
  gpus_.Write("0 GPU-a 1000 0 dead\n");
  EXPECT_THAT(nvml->Use("GPU-a"), StatusIs(absl::StatusCode::kUnavailable,
                                           HasSubstr("GPU is lost")));
  EXPECT_THAT(nvml->Use("GPU-b"), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(NvmlTest, FaultsAreTakenOnceAndProgramsErrorsAreNone) {
  const auto nvml = Load("0 GPU-a 1000 0\n1 GPU-b 1000 0\n");
  EXPECT_THAT(nvml->TakeFaults(), IsEmpty());
  gpus_.Write("0 GPU-a 1000 0\n1 GPU-b 1000 0\nxid 1 79\nxid 0 13\necc 0\n");
  const auto faults = nvml->TakeFaults();
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].uuid, "GPU-b");
  EXPECT_EQ(faults[0].fault.code(), "XID_79");
  EXPECT_EQ(faults[1].uuid, "GPU-a");
  EXPECT_EQ(faults[1].fault.code(), "ECC_DOUBLE_BIT");
  EXPECT_THAT(nvml->TakeFaults(), IsEmpty());
}

}  // namespace
}  // namespace ordo::worker::agent
