#include "services/cli/doctor/devices.h"

#include <string>
#include <sys/stat.h>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::cli::doctor {
namespace {

using ::testing::HasSubstr;

DeviceFacts TwoGpus() {
  DeviceFacts facts;
  facts.num_gpu_files = 2;
  facts.has_library = true;
  facts.driver = "550.54.15";
  facts.num_gpus = 2;
  facts.has_trainer = true;
  facts.probes = {{"cpu", true, "14 kernels passed, 0 failed"},
                  {"cuda:0", true, "30 kernels passed, 0 failed"}};
  return facts;
}

TEST(DevicesTest, AMachineWithGpusIsWell) {
  const Findings findings = JudgeDevices(TwoGpus());
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].seen, "2 GPUs, driver 550.54.15");
  EXPECT_EQ(Count(findings, Health::kOk), 3);
  EXPECT_EQ(findings[2].check, "kernels/cuda:0");
}

TEST(DevicesTest, SoIsOneWithoutAny) {
  DeviceFacts facts;
  EXPECT_EQ(JudgeDevices(facts)[0].health, Health::kOk);
}

TEST(DevicesTest, FilesWithoutADriversLibrary) {
  DeviceFacts facts = TwoGpus();
  facts.has_library = false;
  EXPECT_EQ(JudgeDevices(facts)[0].health, Health::kFail);
}

TEST(DevicesTest, ADriverThatDoesNotAnswer) {
  DeviceFacts facts = TwoGpus();
  facts.num_gpus = -1;
  facts.trouble = "nvmlInit: error 18";
  const Finding finding = JudgeDevices(facts)[0];
  EXPECT_EQ(finding.health, Health::kFail);
  EXPECT_THAT(finding.seen, HasSubstr("error 18"));
  // Libraries alone do no harm.
  facts.num_gpu_files = 0;
  EXPECT_EQ(JudgeDevices(facts)[0].health, Health::kWarn);
}

TEST(DevicesTest, AGpuIsMissing) {
  DeviceFacts facts = TwoGpus();
  facts.num_gpus = 1;
  const Finding finding = JudgeDevices(facts)[0];
  EXPECT_EQ(finding.health, Health::kWarn);
  EXPECT_THAT(finding.seen, HasSubstr("names 1 GPUs, and 2 device files"));
}

TEST(DevicesTest, NoTrainerIsForMachinesWithoutJobs) {
  DeviceFacts facts = TwoGpus();
  facts.has_trainer = false;
  facts.probes.clear();
  const Findings findings = JudgeDevices(facts);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].check, "devices/trainer");
  EXPECT_EQ(findings[1].health, Health::kWarn);
}

TEST(DevicesTest, AKernelIsWrong) {
  DeviceFacts facts = TwoGpus();
  facts.probes[1] = {"cuda:0", false, "29 kernels passed, 1 failed"};
  const Findings findings = JudgeDevices(facts);
  EXPECT_EQ(findings[2].health, Health::kFail);
  EXPECT_THAT(findings[2].advice, HasSubstr("probe --device cuda:0"));
}

class DeviceFactsTest : public ::testing::Test {
 protected:
  DeviceFactsTest() { sources_.root = root_.path(); }

  void Put(const std::string& path, const std::string& text) {
    ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(root_.Path(path))));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, root_.Path(path), text));
  }
  // A trainer that is this script.
  void PutTrainer(const std::string& script) {
    Put("trainer", "#!/bin/sh\n" + script);
    ASSERT_EQ(chmod(root_.Path("trainer").c_str(), 0755), 0);
    sources_.trainer = root_.Path("trainer");
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder root_;
  DeviceSources sources_;
};

TEST_F(DeviceFactsTest, FilesOfGpusAreCounted) {
  for (const char* name :
       {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia", "null"}) {
    Put(std::string("dev/") + name, "");
  }
  sources_.library = root_.Path("none.so");
  const DeviceFacts facts = ReadDeviceFacts(sources_);
  EXPECT_EQ(facts.num_gpu_files, 2);
  EXPECT_FALSE(facts.has_library);
  EXPECT_FALSE(facts.has_trainer);
}

TEST_F(DeviceFactsTest, ALibraryThatIsNoneOfADriver) {
  sources_.library = "libm.so.6";
  const DeviceFacts facts = ReadDeviceFacts(sources_);
  EXPECT_TRUE(facts.has_library);
  EXPECT_EQ(facts.num_gpus, -1);
  EXPECT_THAT(facts.trouble, HasSubstr("lacks calls of NVML"));
}

TEST_F(DeviceFactsTest, TheTrainerIsAskedAboutItsKernels) {
  sources_.library = root_.Path("none.so");
  PutTrainer("echo \"$*\"\necho 3 kernels passed, 0 failed\n\n");
  DeviceFacts facts = ReadDeviceFacts(sources_);
  ASSERT_EQ(facts.probes.size(), 1u);
  EXPECT_TRUE(facts.probes[0].passed);
  EXPECT_EQ(facts.probes[0].said, "3 kernels passed, 0 failed");

  PutTrainer("echo libtorch_cpu.so: cannot open >&2\nexit 127\n");
  facts = ReadDeviceFacts(sources_);
  EXPECT_FALSE(facts.probes[0].passed);
  EXPECT_EQ(facts.probes[0].said, "libtorch_cpu.so: cannot open");

  PutTrainer("exit 3\n");
  EXPECT_EQ(ReadDeviceFacts(sources_).probes[0].said, "exit code 3");

  PutTrainer("exec sleep 600\n");
  sources_.probe_limit = absl::Milliseconds(50);
  facts = ReadDeviceFacts(sources_);
  EXPECT_FALSE(facts.probes[0].passed);
  EXPECT_EQ(facts.probes[0].said, "no answer within 50ms");
}

}  // namespace
}  // namespace ordo::services::cli::doctor
