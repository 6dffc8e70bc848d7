#include "worker/agent/devices.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/details.h"

namespace ordo::worker::agent {
namespace {

using ::ordo::workers::v1::Device;

constexpr char kCpu[] = "cpu:0";
// Device files looked for when a message lists what there is.
constexpr int kMaxCudaDevices = 64;

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

}  // namespace

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
