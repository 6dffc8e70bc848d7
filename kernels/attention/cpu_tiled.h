#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_H_

#include <vector>

#include "kernels/attention/table.h"

// Tiled attention with an online softmax on vectors of floats (Dao et al. 2022,
// arXiv:2205.14135, algorithms 1 and 4, on registers and caches): one pass over
// the keys for each tile of queries, no map of weights in memory, tiles behind
// the causal mask left out. bf16 is widened to fp32, in which everything is
// computed.
//
// A unit of work is a row of the batch and a head of keys: threads share
// nothing, and sums have one order, whatever the number of threads, so reruns
// agree bit for bit.
//
// Without products of far pairs by channel, and without counted positions,
// which cpu_counted.h has.
//
// Forward and backward, fp32, against LibTorch's flash attention in one run
// (two cores of a Zen 4 with AVX-512, B=2 H=12 d=64, N=256 to 2048,
// 2026-11-22; all classes, lengths and bf16 are in docs/kernels.md): 0.44 to
// 0.68 plain, 0.37 to 0.51 under ALiBi, 0.39 to 0.73 under T5 with its
// gradient, 0.46 to 0.78 with TAPE's second value.

namespace ordo::kernels::attention {

// The rows of the table, best first.
std::vector<Kernel> TiledKernels();

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_H_
