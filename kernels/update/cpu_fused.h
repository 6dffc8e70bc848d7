#ifndef ORDO_KERNELS_UPDATE_CPU_FUSED_H_
#define ORDO_KERNELS_UPDATE_CPU_FUSED_H_

#include <vector>

#include "kernels/update/table.h"

// One pass over the tokens, on vectors of floats: a block of tokens has its
// maps [H,H] made by one product, W2 diag(psi) W1 being linear in psi, and each
// token's heads then go through theirs in registers and the nearest cache. The
// backward pass makes maps again, and sums the parameters' gradients by parts
// of the tokens that depend on the problem alone.
//
// Anything is read and written as fp32 or bf16; all is computed in fp32.
//
// Forward and backward, fp32, against LibTorch's operations with the same maps
// (processor time of one thread with AVX-512, 12 heads of 64, inner width 48,
// 2026-11-21): 0.71 by token, 0.91 by one matrix.

namespace ordo::kernels::update {

// The rows of the table, best first.
std::vector<Kernel> FusedKernels();

}  // namespace ordo::kernels::update

#endif  // ORDO_KERNELS_UPDATE_CPU_FUSED_H_
