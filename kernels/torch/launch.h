#ifndef ORDO_KERNELS_TORCH_LAUNCH_H_
#define ORDO_KERNELS_TORCH_LAUNCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "absl/status/status.h"
#include "kernels/common/resources.h"
#include "kernels/common/type.h"
#include "kernels/torch/threads.h"

// What all bindings share.

namespace ordo::kernels::torch {

// Where kernels for a tensor lie in the tables, if there can be any. Tensors
// without memory (LibTorch's meta device) count as a GPU's, so that what leads
// up to its kernels is tested where there is none.
std::optional<Device> DeviceOf(const at::Tensor& x);

// Whether kernels for the tensor's device read numbers of its type: fp32 and
// bf16, on a GPU fp16 too.
bool IsOfKernelType(const at::Tensor& x);

// Whether kernels can read the tensor: on the host or a GPU, of a kernel type
// there, numbers of the last axis side by side, some there.
bool IsReadable(const at::Tensor& x);

// The device that all of them are on, if kernels can read them there; else
// none.
std::optional<Device> DeviceOfAll(at::TensorList xs);

// Of a tensor that IsOfKernelType; and LibTorch's name of a type.
Type TypeOf(const at::Tensor& x);
c10::ScalarType ScalarOf(Type type);

// Where the numbers of x begin, T being their type or void; null for tensors
// without memory.
template <typename T>
T* Data(const at::Tensor& x) {
  if (x.is_meta()) return nullptr;
  if constexpr (std::is_void_v<T>) {
    return x.mutable_data_ptr();
  } else {
    return x.mutable_data_ptr<T>();
  }
}
template <typename T>
const T* ConstData(const at::Tensor& x) {
  if (x.is_meta()) return nullptr;
  if constexpr (std::is_void_v<T>) {
    return x.const_data_ptr();
  } else {
    return x.const_data_ptr<T>();
  }
}

// The GPU that x lies on; none if it lies elsewhere.
std::optional<c10::Device> GpuOf(const at::Tensor& x);

// x on the device. What the host has is copied without waiting for what a GPU
// has to do yet.
at::Tensor CopyTo(const at::Tensor& x, c10::Device device);

// x itself if its last axis is side by side, else a copy.
at::Tensor InRows(const at::Tensor& x);

// Throws what a pass of a kernel has not done, with the kernel's name.
void ExpectRan(const absl::Status& status, const std::string& kernel);

// What a pass may use: on the host LibTorch's threads, on a GPU the calling
// thread's queue; memory from LibTorch's allocator for the device. While it
// lives, the GPU of its tensors is the thread's current one, which is the one
// that kernels are queued on.
//
// On a GPU nothing is waited for, and the memory may be another's once the pass
// is queued, as that one's work is queued behind it: so passes can be captured
// in a CUDA graph, after one like them has run, as the driver loads a kernel's
// code when it is queued for the first time, which it may not do meanwhile.
class Launch {
 public:
  // For a kernel of tensors that lie with `beside`.
  Launch(int64_t workspace_bytes, const at::Tensor& beside);
  const Resources& resources() const { return resources_; }

 private:
  const c10::OptionalDeviceGuard on_device_;
  at::Tensor workspace_;
  Resources resources_;
};

// Runs a pass of a row of attention's or of the update's table, for tensors
// that lie with `beside`.
template <typename Kernel, typename Call>
absl::Status RunPass(const Kernel& kernel, Way way, const Call& call,
                     const at::Tensor& beside) {
  // For what is asked of the GPU before there is a launch.
  const c10::OptionalDeviceGuard on_device(GpuOf(beside));
  const Launch launch(kernel.workspace_bytes(call.problem, way, NumThreads()),
                      beside);
  const auto& pass = way == Way::kForward ? kernel.forward : kernel.backward;
  return pass(call, launch.resources());
}

}  // namespace ordo::kernels::torch

#endif  // ORDO_KERNELS_TORCH_LAUNCH_H_
