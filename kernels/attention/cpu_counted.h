#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_H_

#include <vector>

#include "kernels/attention/table.h"

// Tiled attention with positions that are counted by gates: CoPE (Golovneva et
// al. 2024, arXiv:2405.18719, equations 3 to 5 and listing 1). To cpu_tiled.h
// it adds c and z of problem.h: tiles of keys are walked from the last one a
// query sees to the first, and each row carries its sum of gates. Where that
// has reached the last of z's numbers, what is left of the row is plain
// attention with a constant.
//
// The backward pass needs counts, which come from the right, and sums of their
// gradients, which come from the left, at the same time. For each tile of
// queries a first walk to the left keeps products and each tile's first count:
// kTile numbers per key, for one tile of queries at a time.
//
// Beside gates it does what cpu_tiled_hook.h does to logits, and several value
// tensors. As with cpu_tiled.h, threads change no bit.
//
// Forward and backward, fp32, against LibTorch's flash attention in one run
// (processor time of one thread of an EPYC with AVX-512, B=2 H=12 d=64,
// N=256/512/1024, 2026-11-21): 0.63/0.45/0.46 with P=64 and gates about one
// half, 0.66/0.60/0.73 with P=N+1, 0.84/0.72/0.86 with P=64 and gates of their
// own of which no row has enough.

namespace ordo::kernels::attention {

// The rows of the table, best first.
std::vector<Kernel> CountedKernels();

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_H_
