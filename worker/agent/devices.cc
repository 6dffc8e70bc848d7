#include "worker/agent/devices.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "base/text/lines.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;

constexpr char kCpu[] = "cpu:0";
constexpr absl::string_view kCuda = "cuda:";
// Device files looked for when a message lists what there is.
constexpr int kMaxCudaDevices = 64;
constexpr size_t kMaxInfoBytes = 1 << 16;

std::vector<std::string> Present(const std::string& root) {
  base::PosixFilesystem files;
  std::vector<std::string> present = {kCpu};
  for (int i = 0; i < kMaxCudaDevices; ++i) {
    if (base::Exists(files, absl::StrCat(root, "/dev/nvidia", i))) {
      present.push_back(absl::StrCat("cuda:", i));
    }
  }
  return present;
}

// Under /proc/driver/nvidia/gpus the driver has a folder for each GPU, whose
// file `information` names the device file's number and the GPU's UUID. CUDA
// counts GPUs in another order than device files. The file's text; empty: there
// is none.
std::string Information(const std::string& number, const std::string& root) {
  base::PosixFilesystem files;
  const std::string folder = root + "/proc/driver/nvidia/gpus";
  const auto gpus = files.List(folder);
  if (!gpus.ok()) return "";
  for (const std::string& gpu : *gpus) {
    const auto text = base::ReadFile(
        files, absl::StrCat(folder, "/", gpu, "/information"), kMaxInfoBytes);
    if (text.ok() && base::LineValue(*text, "Device Minor") == number)
      return *text;
  }
  return "";
}

std::string VisibleName(const std::string& number, const std::string& root) {
  const std::string uuid =
      base::LineValue(Information(number, root), "GPU UUID");
  return uuid.empty() ? number : uuid;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> DeviceEnvironment(
    const std::vector<std::string>& devices, const std::string& root) {
  std::vector<std::string> visible;
  for (const std::string& device : devices) {
    if (!absl::StartsWith(device, kCuda)) continue;
    visible.push_back(VisibleName(device.substr(kCuda.size()), root));
  }
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
          {"CUDA_VISIBLE_DEVICES", absl::StrJoin(visible, ",")}};
}

std::string GpuIdentity(const std::string& device, const std::string& root) {
  if (!absl::StartsWith(device, kCuda)) return "";
  const std::string text = Information(device.substr(kCuda.size()), root);
  if (text.empty()) return "";
  return absl::StrCat(base::LineValue(text, "Model"), " ",
                      base::LineValue(text, "GPU UUID"));
}

absl::StatusOr<std::vector<Device>> FindDevices(
    const std::vector<std::string>& names, const std::string& root) {
  const std::vector<std::string> present = Present(root);
  const std::vector<std::string> wanted =
      names.empty() ? std::vector<std::string>{kCpu} : names;
  std::vector<base::FieldViolation> violations;
  std::vector<Device> devices;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string field = absl::StrCat("devices[", i, "]");
    if (std::count(wanted.begin(), wanted.begin() + i, wanted[i]) > 0) {
      violations.push_back({field, wanted[i] + " is named twice"});
    } else if (std::count(present.begin(), present.end(), wanted[i]) == 0) {
      violations.push_back(
          {field, absl::StrCat(wanted[i],
                               " does not exist on this machine, which has ",
                               absl::StrJoin(present, ", "),
                               "; take it out or mend the driver")});
    } else {
      Device device;
      device.set_name(wanted[i]);
      device.set_kind(wanted[i].substr(0, wanted[i].find(':')));
      devices.push_back(device);
    }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return devices;
}

}  // namespace ordo::worker::agent
