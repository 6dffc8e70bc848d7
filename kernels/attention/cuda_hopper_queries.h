#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_QUERIES_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_QUERIES_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/attention/cuda_hopper_sight.h"
#include "kernels/common/cuda_vectors.h"

// What the backward pass of cuda_hopper.cu has after the products: the sums of
// the queries' gradients become those.

namespace ordo::kernels::attention {

// Pairs of columns of a block.
inline constexpr int64_t kHopperPairs = 4 * kThreads;

ORDO_KERNEL(kThreads)
HopperQueries(const HopperArguments arguments) {
  const Call& call = arguments.tiled.call;
  const Problem& p = call.problem;
  const HeadOf of = {device::BlockZ(), device::BlockY()};
  const Part to = MakePart(call.d_inputs[kQ], of, 0, 0);
  const float* const sums =
      arguments.dq_BHTD + (of.batch * p.heads + of.head) * p.queries * p.width;
  const float factor = ChangeFactor(p);
  for (int i = 0; i < 4; ++i) {
    const int64_t at = 2 * (device::BlockX() * kHopperPairs + i * kThreads +
                            device::ThreadId());
    if (at >= p.queries * p.width) return;
    const int64_t pair = at / p.width * to.stride + at % p.width;
    StoreNumber(p.type, sums[at] * factor, pair, to.data);
    StoreNumber(p.type, sums[at + 1] * factor, pair + 1, to.data);
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_QUERIES_H_
