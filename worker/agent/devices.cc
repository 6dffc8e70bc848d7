#include "worker/agent/devices.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "base/text/lines.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;

constexpr absl::string_view kCpu = "cpu:";
constexpr absl::string_view kCuda = "cuda:";
// Device files looked for when a message lists what there is.
constexpr int kMaxCudaDevices = 64;
constexpr size_t kMaxInfoBytes = 1 << 16;

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

bool IsPresent(const std::string& name, const DevicesPresent& present) {
  for (const Gpu& gpu : present.gpus) {
    if (gpu.device == name) return true;
  }
  int index = 0;
  return absl::StartsWith(name, kCpu) &&
         absl::SimpleAtoi(name.substr(kCpu.size()), &index) &&
         name == absl::StrCat(kCpu, index) && index >= 0 &&
         index < present.num_cpus;
}

Device DeviceOf(const std::string& name, const std::vector<Gpu>& gpus) {
  Device device;
  device.set_name(name);
  device.set_kind(name.substr(0, name.find(':')));
  for (const Gpu& gpu : gpus) {
    if (gpu.device != name) continue;
    device.set_uuid(gpu.uuid);
    device.set_memory_bytes(gpu.memory_bytes);
    device.set_driver_version(gpu.driver_version);
  }
  return device;
}

}  // namespace

std::vector<Gpu> GpusWithFiles(const std::string& root) {
  base::PosixFilesystem files;
  std::vector<Gpu> gpus;
  for (int i = 0; i < kMaxCudaDevices; ++i) {
    if (!base::Exists(files, absl::StrCat(root, "/dev/nvidia", i))) continue;
    const std::string text = Information(absl::StrCat(i), root);
    Gpu gpu;
    gpu.device = absl::StrCat(kCuda, i);
    gpu.uuid = base::LineValue(text, "GPU UUID");
    gpu.model = base::LineValue(text, "Model");
    gpus.push_back(gpu);
  }
  return gpus;
}

std::map<std::string, std::string> UuidsOf(const std::vector<Device>& devices) {
  std::map<std::string, std::string> uuids;
  for (const Device& device : devices) {
    if (!device.uuid().empty()) uuids[device.name()] = device.uuid();
  }
  return uuids;
}

std::vector<std::pair<std::string, std::string>> DeviceEnvironment(
    const std::vector<std::string>& devices,
    const std::map<std::string, std::string>& uuids) {
  std::vector<std::string> visible;
  for (const std::string& device : devices) {
    if (!absl::StartsWith(device, kCuda)) continue;
    const auto uuid = uuids.find(device);
    visible.push_back(uuid == uuids.end() ? device.substr(kCuda.size())
                                          : uuid->second);
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
    const std::vector<std::string>& names, const DevicesPresent& present) {
  std::vector<std::string> wanted = names;
  std::string there = "cpu:0";
  if (present.num_cpus > 1) {
    absl::StrAppend(&there, " to cpu:", present.num_cpus - 1);
  }
  if (names.empty()) wanted.emplace_back("cpu:0");
  for (const Gpu& gpu : present.gpus) {
    if (names.empty()) wanted.push_back(gpu.device);
    absl::StrAppend(&there, ", ", gpu.device);
  }
  std::vector<base::FieldViolation> violations;
  std::vector<Device> devices;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string field = absl::StrCat("devices[", i, "]");
    if (std::count(wanted.begin(), wanted.begin() + i, wanted[i]) > 0) {
      violations.push_back({field, wanted[i] + " is named twice"});
    } else if (!IsPresent(wanted[i], present)) {
      violations.push_back(
          {field, absl::StrCat(wanted[i],
                               " does not exist on this machine, which has ",
                               there, "; take it out or mend the driver")});
    } else {
      devices.push_back(DeviceOf(wanted[i], present.gpus));
    }
  }
  if (!violations.empty()) return base::InvalidFields(violations);
  return devices;
}

}  // namespace ordo::worker::agent
