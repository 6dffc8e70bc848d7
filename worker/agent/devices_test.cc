#include "worker/agent/devices.h"

#include <string>
#include <utility>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class DevicesTest : public ::testing::Test {
 protected:
  void MakeCuda(const std::string& index) {
    base::PosixFilesystem files;
    ORDO_ASSERT_OK(files.MakeFolders(root_.Path("dev")));
    ORDO_ASSERT_OK(files.OpenForWrite(root_.Path("dev/nvidia" + index),
                                      base::WriteMode::kCreateNew));
  }

  DevicesPresent Found() const { return {1, GpusWithFiles(root_.path())}; }

  base::testing::TemporaryFolder root_;
};

TEST_F(DevicesTest, OneProcessorWhereNoneIsNamed) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto devices, FindDevices({}, {}));
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].name(), "cpu:0");
  EXPECT_EQ(devices[0].kind(), "cpu");
}

TEST_F(DevicesTest, FindsWhatHasADeviceFile) {
  MakeCuda("3");
  ORDO_ASSERT_OK_AND_ASSIGN(const auto devices,
                            FindDevices({"cpu:0", "cuda:3"}, Found()));
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].kind(), "cuda");
}

TEST_F(DevicesTest, MissingDeviceIsNamedWithItsFieldAndWhatThereIs) {
  MakeCuda("0");
  const auto devices = FindDevices({"cuda:0", "cuda:1"}, Found());
  EXPECT_THAT(devices,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("devices[1]"), HasSubstr("cuda:1"),
                             HasSubstr("cpu:0, cuda:0"))));
}

TEST_F(DevicesTest, AllThatIsWrongIsSaid) {
  const auto devices = FindDevices({"cpu:0", "cpu:0", "cpu:1", "gpu"}, {});
  EXPECT_EQ(base::FieldViolations(devices.status()).size(), 3u);
}

TEST_F(DevicesTest, AProcessorHasAsManySlotsAsCores) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto devices,
                            FindDevices({"cpu:3", "cpu:0"}, {4, {}}));
  EXPECT_EQ(devices[0].name(), "cpu:3");
  EXPECT_EQ(devices[0].kind(), "cpu");
  EXPECT_THAT(FindDevices({"cpu:4"}, {4, {}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("which has cpu:0 to cpu:3;")));
  for (const char* name : {"cpu:", "cpu:-1", "cpu:01", "cpu:x"}) {
    EXPECT_THAT(FindDevices({name}, {4, {}}),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
}

TEST_F(DevicesTest, NoneNamedMeansAllThatThereAre) {
  const Gpu gpu{"cuda:2", "GPU-two", "Model", 80, "550.1"};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto devices, FindDevices({}, {1, {gpu}}));
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].name(), "cpu:0");
  EXPECT_EQ(devices[1].name(), "cuda:2");
  EXPECT_EQ(devices[1].kind(), "cuda");
  EXPECT_EQ(devices[1].uuid(), "GPU-two");
  EXPECT_EQ(devices[1].memory_bytes(), 80);
  EXPECT_EQ(devices[1].driver_version(), "550.1");
}

// As the driver names them: the device file's number is not CUDA's.
TEST_F(DevicesTest, ATaskSeesItsOwnGpusByTheirLastingNames) {
  base::PosixFilesystem files;
  const auto describe = [&](const std::string& gpu, const std::string& minor,
                            const std::string& uuid) {
    const std::string folder = root_.Path("proc/driver/nvidia/gpus/" + gpu);
    ORDO_ASSERT_OK(files.MakeFolders(folder));
    ORDO_ASSERT_OK(base::AtomicWrite(files, folder + "/information",
                                     "Model: \t\t NVIDIA H200\nGPU UUID: \t " +
                                         uuid + "\nDevice Minor: \t " + minor +
                                         "\n"));
  };
  describe("0000:18:00.0", "1", "GPU-eleven");
  describe("0000:2a:00.0", "0", "GPU-zero");
  for (const char* index : {"0", "1", "2"}) MakeCuda(index);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto found, FindDevices({}, Found()));
  const auto visible = [&](const std::vector<std::string>& devices) {
    return DeviceEnvironment(devices, UuidsOf(found))[1];
  };
  EXPECT_EQ(visible({"cuda:0"}).second, "GPU-zero");
  EXPECT_EQ(visible({"cuda:1", "cuda:0"}).second, "GPU-eleven,GPU-zero");
  EXPECT_EQ(GpuIdentity("cuda:1", root_.path()), "NVIDIA H200 GPU-eleven");
  EXPECT_EQ(GpuIdentity("cuda:2", root_.path()), "");
  EXPECT_EQ(GpuIdentity("cpu:0", root_.path()), "");
  // Another driver, another folder.
  EXPECT_EQ(visible({"cuda:2"}).second, "2");
  EXPECT_EQ(visible({"cpu:0"}),
            std::pair(std::string("CUDA_VISIBLE_DEVICES"), std::string()));
}

}  // namespace
}  // namespace ordo::worker::agent
