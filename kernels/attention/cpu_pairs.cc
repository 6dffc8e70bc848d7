#include "kernels/attention/cpu_pairs.h"

#include "kernels/attention/cpu_passes.h"
#include "kernels/common/cpu_features.h"

namespace ordo::kernels::attention {
namespace {

// What problem.h has and these kernels do not.
Refusals RefusalsOf(const Problem& p) {
  return {
      {p.device != Device::kCpu, "tensors on another device"},
      {p.type != Type::kBfloat16, "other types than bf16"},
      {p.query_band > 0 || p.key_band > 0, "vectors of distances"},
      {p.by_channel, "products by channel"},
      {p.far_from > 0, "a far product"},
      {p.summed, "sums of weights by distance"},
      {p.gates != Gates::kNone, "counted positions"},
  };
}

}  // namespace

Kernel PairKernel(const char* suffix, const PairProducts& products,
                  absl::Status (*has_instructions)()) {
  return CpuKernel("cpu_pairs",
                   {suffix, &kPairsCode, has_instructions, &products},
                   RefusalsOf);
}

std::vector<Kernel> PairKernels() {
  return {PairKernel("_amx", kTileProducts, HasAmx),
          PairKernel("_avx512bf16", kDotProducts, HasAvx512Bf16)};
}

}  // namespace ordo::kernels::attention
