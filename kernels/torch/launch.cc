#include "kernels/torch/launch.h"

#include <functional>

#include "ATen/Parallel.h"
#include "ATen/ops/empty.h"
#include "c10/util/Exception.h"

namespace ordo::kernels::torch {

bool IsReadable(const at::Tensor& x) {
  return x.defined() && x.device().is_cpu() && x.numel() > 0 && x.dim() > 0 &&
         (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         (x.size(-1) == 1 || x.stride(-1) == 1);
}

Type TypeOf(const at::Tensor& x) {
  return x.scalar_type() == at::kFloat ? Type::kFloat32 : Type::kBfloat16;
}

at::Tensor InRows(const at::Tensor& x) {
  return x.size(-1) == 1 || x.stride(-1) == 1 ? x : x.contiguous();
}

void ExpectRan(const absl::Status& status, const std::string& kernel) {
  TORCH_CHECK(status.ok(), kernel, ": ", std::string(status.message()));
}

int Launch::Threads() { return at::get_num_threads(); }

Launch::Launch(int64_t workspace_bytes)
    // LibTorch aligns to 64 bytes.
    : workspace_(at::empty({workspace_bytes}, at::kByte)) {
  resources_.workspace = workspace_.mutable_data_ptr();
  resources_.run = [](int64_t count,
                      const std::function<void(int64_t, int)>& task) {
    at::parallel_for(0, count, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) task(i, at::get_thread_num());
    });
  };
}

}  // namespace ordo::kernels::torch
