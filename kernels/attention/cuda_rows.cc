#include "kernels/attention/cuda_rows.h"

#include "absl/strings/str_cat.h"

namespace ordo::kernels::attention {
namespace {

absl::Status Ended(const CudaCode& code, const char* error) {
  if (error == nullptr) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(code.name, ": ", error));
}

}  // namespace

Kernel CudaKernel(const CudaCode& code) {
  Kernel kernel;
  kernel.name = code.name;
  kernel.device = Device::kCuda;
  kernel.supports = [&code](const Problem& problem) {
    const char* const refusal = code.refusal(problem);
    if (refusal == nullptr) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(code.name, ": ", refusal));
  };
  kernel.workspace_bytes = [&code](const Problem& problem, int /*threads*/) {
    return code.workspace_bytes(problem);
  };
  kernel.forward = [&code](const Call& call, const Resources& resources) {
    return Ended(code,
                 code.forward(call, resources.workspace, resources.stream));
  };
  kernel.backward = [&code](const Call& call, const Resources& resources) {
    return Ended(code,
                 code.backward(call, resources.workspace, resources.stream));
  };
  return kernel;
}

}  // namespace ordo::kernels::attention
