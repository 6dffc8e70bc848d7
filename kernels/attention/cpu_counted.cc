#include "kernels/attention/cpu_counted.h"

#include "kernels/attention/cpu_counted_code.h"
#include "kernels/attention/cpu_passes.h"

namespace ordo::kernels::attention {
namespace {

// What problem.h has and these kernels do not.
Refusals RefusalsOf(const Problem& p) {
  return {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.type == Type::kFloat16, "fp16"},
      {p.gates == Gates::kNone, "positions that nothing counts"},
      {p.query_band > 0 || p.key_band > 0, "vectors of distances"},
      {p.by_channel, "products by channel"},
      {p.far_from > 0, "a far product"},
      {p.summed, "sums of weights by distance"},
  };
}

}  // namespace

std::vector<Kernel> CountedKernels() {
  return CpuKernels("cpu_counted",
                    {kCountedAvx512, kCountedAvx2, kCountedBaseline},
                    RefusalsOf);
}

}  // namespace ordo::kernels::attention
