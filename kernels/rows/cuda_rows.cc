#include "kernels/rows/cuda_rows.h"

#include "kernels/common/cuda_row.h"

namespace ordo::kernels::rows {
namespace {

template <typename Problem>
Pass<Problem> PassOf(const CudaCode& code, CudaPass<Problem> pass) {
  return [&code, pass](const Problem& problem, const Resources& resources) {
    return CudaEnded(code.name,
                     pass(problem, resources.workspace, resources.stream));
  };
}

}  // namespace

Kernel CudaKernel(const CudaCode& code) {
  Kernel kernel;
  kernel.name = code.name;
  kernel.device = Device::kCuda;
  kernel.supports = [&code] { return CudaSupports(code.name, code.refusal()); };
  kernel.turn = PassOf(code, code.turn);
  kernel.turn_backward = PassOf(code, code.turn_backward);
  kernel.norm = PassOf(code, code.norm);
  kernel.norm_backward = PassOf(code, code.norm_backward);
  kernel.gate = PassOf(code, code.gate);
  kernel.gate_backward = PassOf(code, code.gate_backward);
  kernel.adam = PassOf(code, code.adam);
  kernel.loss = PassOf(code, code.loss);
  kernel.loss_backward = PassOf(code, code.loss_backward);
  kernel.norm_workspace_bytes = code.norm_workspace_bytes;
  return kernel;
}

}  // namespace ordo::kernels::rows
