#ifndef ORDO_KERNELS_ROWS_CPU_FUSED_H_
#define ORDO_KERNELS_ROWS_CPU_FUSED_H_

#include <vector>

#include "kernels/rows/table.h"

// One pass over the rows on vectors of floats; what is bf16 is computed in
// fp32. Work is divided by the problem alone.
//
// Forward and backward, fp32, against the LibTorch operations that they replace
// in one run (processor time of one thread with AVX-512, 1024 tokens of width
// 768, medians of 40 in turn, 2026-11-21): q and k turned by rope's table 0.49,
// by a state of each token 0.52, RMSNorm 0.21, SwiGLU of 3072 0.32, AdamW's
// step 0.26.

namespace ordo::kernels::rows {

// The rows of the table, best first.
std::vector<Kernel> FusedKernels();

}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CPU_FUSED_H_
