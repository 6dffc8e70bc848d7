#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_H_

#include <vector>

#include "kernels/attention/cpu_pairs_code.h"
#include "kernels/attention/table.h"

// cpu_tiled.h for bf16 by the processor's own instructions, which multiply
// pairs of bf16 and sum in fp32: VDPBF16PS, twice as fast as products in fp32,
// and AMX, which multiplies tiles. Weights and gradients of logits are rounded
// to bf16 for the products that they are in; all else is fp32, as there.
//
// Without vectors of distances, products by channel, far pairs, sums by
// distance and counts, which bf16 has in cpu_tiled and cpu_counted.
//
// cpu_pairs_avx512bf16, forward and backward, against LibTorch's flash
// attention in bf16 in one run (two cores of a Zen 4, B=2 H=12 d=64, N=256 to
// 2048, 2026-11-22; all classes and lengths are in docs/kernels.md): 0.23 to
// 0.39 plain, 0.23 to 0.29 under ALiBi, 0.34 to 0.54 with TAPE's second value.
// AMX was never run on a processor that has it.

namespace ordo::kernels::attention {

// The rows of the table, best first.
std::vector<Kernel> PairKernels();

// The row cpu_pairs<suffix>, for processors that have the products'
// instructions.
Kernel PairKernel(const char* suffix, const PairProducts& products,
                  absl::Status (*has_instructions)());

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_H_
