#include "kernels/torch/launch.h"

#include "ATen/ops/empty.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "c10/util/Exception.h"

namespace ordo::kernels::torch {

std::optional<Device> DeviceOf(const at::Tensor& x) {
  if (x.device().is_cpu()) return Device::kCpu;
  if (x.device().is_cuda() || x.device().is_meta()) return Device::kCuda;
  return std::nullopt;
}

std::optional<Device> DeviceOfAll(at::TensorList xs) {
  for (const at::Tensor& x : xs) {
    if (!IsReadable(x) || x.device() != xs[0].device()) return std::nullopt;
  }
  return DeviceOf(xs[0]);
}

bool IsOfKernelType(const at::Tensor& x) {
  const c10::ScalarType type = x.scalar_type();
  return type == at::kFloat || type == at::kBFloat16 ||
         (type == at::kHalf && DeviceOf(x) == Device::kCuda);
}

bool IsReadable(const at::Tensor& x) {
  return x.defined() && DeviceOf(x).has_value() && x.numel() > 0 &&
         x.dim() > 0 && IsOfKernelType(x) &&
         (x.size(-1) == 1 || x.stride(-1) == 1);
}

Type TypeOf(const at::Tensor& x) {
  if (x.scalar_type() == at::kFloat) return Type::kFloat32;
  return x.scalar_type() == at::kHalf ? Type::kFloat16 : Type::kBfloat16;
}

c10::ScalarType ScalarOf(Type type) {
  if (type == Type::kFloat32) return at::kFloat;
  return type == Type::kFloat16 ? at::kHalf : at::kBFloat16;
}

std::optional<c10::Device> GpuOf(const at::Tensor& x) {
  return x.device().is_cuda() ? std::optional(x.device()) : std::nullopt;
}

at::Tensor CopyTo(const at::Tensor& x, c10::Device device) {
  // From other memory the copy would be waited for.
  const bool is_queued =
      device.is_cuda() && x.device().is_cpu() && x.numel() > 0;
  return is_queued ? x.pin_memory().to(device, /*non_blocking=*/true)
                   : x.to(device);
}

at::Tensor InRows(const at::Tensor& x) {
  return x.size(-1) == 1 || x.stride(-1) == 1 ? x : x.contiguous();
}

void ExpectRan(const absl::Status& status, const std::string& kernel) {
  TORCH_CHECK(status.ok(), kernel, ": ", std::string(status.message()));
}

Launch::Launch(int64_t workspace_bytes, const at::Tensor& beside)
    : on_device_(GpuOf(beside)),
      // LibTorch aligns to 64 bytes on the host, to 512 on a GPU.
      workspace_(
          at::empty({workspace_bytes},
                    at::TensorOptions(at::kByte).device(beside.device()))) {
  resources_.workspace = Data<void>(workspace_);
  if (beside.device().is_cuda()) {
    const c10::impl::VirtualGuardImpl of_device(beside.device().type());
    resources_.stream = of_device.getStream(beside.device()).native_handle();
  }
  if (!beside.device().is_cpu()) return;
  resources_.run = RunOnThreads;
}

}  // namespace ordo::kernels::torch
