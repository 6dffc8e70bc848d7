#ifndef ORDO_KERNELS_COMMON_CUDA_ROW_H_
#define ORDO_KERNELS_COMMON_CUDA_ROW_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kernels/common/resources.h"
#include "kernels/common/type.h"

// Rows of the tables for code of the CUDA library.

namespace ordo::kernels {

// What a pass of the code that has the name came to: INTERNAL if the device did
// not take it. Null: nothing went wrong.
inline absl::Status CudaEnded(const char* name, const char* error) {
  if (error == nullptr) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, ": ", error));
}

// UNIMPLEMENTED where the code refuses. Null: it does not.
inline absl::Status CudaSupports(const char* name, const char* refusal) {
  if (refusal == nullptr) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(name, ": ", refusal));
}

// A row of forward and backward passes. The code must stay loaded.
template <typename Kernel, typename Problem, typename Call, typename Code>
Kernel CudaRow(const Code& code) {
  Kernel kernel;
  kernel.name = code.name;
  kernel.device = Device::kCuda;
  kernel.supports = [&code](const Problem& problem) {
    return CudaSupports(code.name, code.refusal(problem));
  };
  kernel.workspace_bytes = [&code](const Problem& problem, Way way,
                                   int /*threads*/) {
    return way == Way::kForward ? code.forward_bytes(problem)
                                : code.backward_bytes(problem);
  };
  kernel.forward = [&code](const Call& call, const Resources& resources) {
    return CudaEnded(code.name,
                     code.forward(call, resources.workspace, resources.stream));
  };
  kernel.backward = [&code](const Call& call, const Resources& resources) {
    return CudaEnded(
        code.name, code.backward(call, resources.workspace, resources.stream));
  };
  return kernel;
}

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CUDA_ROW_H_
