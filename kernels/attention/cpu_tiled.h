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

namespace ordo::kernels::attention {

// The rows of the table, best first.
std::vector<Kernel> TiledKernels();

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_H_
