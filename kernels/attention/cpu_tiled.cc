#include "kernels/attention/cpu_tiled.h"

#include "kernels/attention/cpu_passes.h"

namespace ordo::kernels::attention {
namespace {

// What problem.h has and these kernels do not.
Refusals RefusalsOf(const Problem& p) {
  return {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.type == Type::kFloat16, "fp16"},
      {p.by_channel && p.far_from > 0, "products of far pairs by channel"},
      {p.gates != Gates::kNone, "counted positions"},
  };
}

}  // namespace

std::vector<Kernel> TiledKernels() {
  return CpuKernels("cpu_tiled", {kTiledAvx512, kTiledAvx2, kTiledBaseline},
                    RefusalsOf);
}

}  // namespace ordo::kernels::attention
