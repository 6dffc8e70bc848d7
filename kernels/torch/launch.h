#ifndef ORDO_KERNELS_TORCH_LAUNCH_H_
#define ORDO_KERNELS_TORCH_LAUNCH_H_

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "absl/status/status.h"
#include "kernels/common/resources.h"
#include "kernels/common/type.h"

// What all bindings share.

namespace ordo::kernels::torch {

// Whether a CPU kernel can read the tensor: fp32 or bf16, numbers of the last
// axis side by side, some there.
bool IsReadable(const at::Tensor& x);

// Of a tensor that IsReadable.
Type TypeOf(const at::Tensor& x);

// x itself if its last axis is side by side, else a copy.
at::Tensor InRows(const at::Tensor& x);

// Throws what a pass of a kernel has not done, with the kernel's name.
void ExpectRan(const absl::Status& status, const std::string& kernel);

// LibTorch's threads, and memory from its allocator.
class Launch {
 public:
  // Threads that a kernel is to ask its workspace for.
  static int Threads();

  explicit Launch(int64_t workspace_bytes);
  const Resources& resources() const { return resources_; }

 private:
  at::Tensor workspace_;
  Resources resources_;
};

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_LAUNCH_H_
