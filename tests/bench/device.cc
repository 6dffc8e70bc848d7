#include "tests/bench/device.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "model/training/numerics.h"

namespace ordo::tests::bench {
namespace {

using kernels::Device;

// Built beside this program, which lies in tests/bench.
std::string LibraryPath() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "../../kernels/cuda/libordo_cuda.so")
      .lexically_normal();
}

}  // namespace

absl::Status ReadDevice(const std::string& value, Device* device) {
  if (value == "cuda" || value == "cuda:0") {
    *device = Device::kCuda;
  } else if (value != "cpu") {
    return absl::InvalidArgumentError(
        absl::StrCat("--device: '", value, "' is not cpu, cuda or cuda:0"));
  }
  return absl::OkStatus();
}

absl::Status OpenDevice(Device device) {
  if (device == Device::kCpu) return absl::OkStatus();
  const absl::Status opened =
      model::training::OpenDevice("cuda", LibraryPath()).status();
  if (opened.ok()) return opened;
  return absl::FailedPreconditionError(
      absl::StrCat("--device: cuda cannot be measured here: ",
                   std::string(opened.message())));
}

}  // namespace ordo::tests::bench
