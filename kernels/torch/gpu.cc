#include "kernels/torch/gpu.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "c10/core/impl/DeviceGuardImplInterface.h"
#include "kernels/cuda/load.h"

namespace ordo::kernels::torch {
namespace {

// The folder that LibTorch was loaded from, with a slash.
std::string FolderOfTorch() {
  Dl_info found;
  if (dladdr(&c10::impl::device_guard_impl_registry, &found) == 0) return "";
  const std::string path = found.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

absl::Status LoadTorchCuda() {
  const std::string path = absl::StrCat(FolderOfTorch(), "libtorch_cuda.so");
  // Its operations join LibTorch's tables while it is loaded; it stays.
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "LibTorch's CUDA library cannot be loaded: ", dlerror(),
      "; a task with resources.device cuda needs it at ", path,
      " and the CUDA libraries of that LibTorch where the loader looks "
      "(LD_LIBRARY_PATH, of a worker in trainer_environment)"));
}

absl::StatusOr<std::string> Open(const std::string& kernels) {
  const absl::Status torch = LoadTorchCuda();
  if (!torch.ok()) return torch;
  const auto library = cuda::LoadCuda(kernels);
  if (!library.ok()) {
    return absl::FailedPreconditionError(library.status().message());
  }
  // Registered by what was loaded; it warns of the driver's errors and counts
  // 0.
  const auto* const devices =
      c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA);
  const char* const missing = (*library)->missing_device();
  if (missing != nullptr || devices->deviceCount() == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "there is no GPU to compute on: ",
        missing != nullptr ? missing : "LibTorch finds none",
        "; see that nvidia-smi lists one here and that CUDA_VISIBLE_DEVICES, "
        "where it is set, names it"));
  }
  return std::string((*library)->device_text());
}

}  // namespace

absl::StatusOr<std::string> OpenGpu(const std::string& kernels) {
  static const auto* opened = new absl::StatusOr<std::string>(Open(kernels));
  return *opened;
}

}  // namespace ordo::kernels::torch
