#include "kernels/common/device_name.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ordo::kernels {
namespace {

constexpr char kVisible[] = "CUDA_VISIBLE_DEVICES";

}  // namespace

absl::StatusOr<DeviceName> ParseDevice(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(std::string(text), ':');
  int index = 0;
  const bool has_index =
      parts.size() == 2 && absl::SimpleAtoi(parts[1], &index) && index >= 0;
  if (has_index || parts.size() == 1) {
    if (parts[0] == "cpu" && index == 0) return DeviceName{Device::kCpu, 0};
    if (parts[0] == "cuda") return DeviceName{Device::kCuda, index};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("must be cpu, cpu:0, cuda or cuda:<index>, is '",
                   std::string(text), "'"));
}

std::string ToString(const DeviceName& name) {
  return name.device == Device::kCpu ? "cpu"
                                     : absl::StrCat("cuda:", name.index);
}

void SeeGpu(int index) {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", /*overwrite=*/0);
  setenv(kVisible, absl::StrCat(index).c_str(), /*overwrite=*/0);
}

bool GpusAreChosen() { return std::getenv(kVisible) != nullptr; }

}  // namespace ordo::kernels
