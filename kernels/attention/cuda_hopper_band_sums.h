#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_SUMS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_SUMS_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/common/cuda_vectors.h"

// What cuda_hopper.cu has after cuda_hopper_band_rows.h: the parts of the
// gradient of vectors of distances become that. Included once: a kernel that is
// no template has one definition.

namespace ordo::kernels::attention {

// The i-th of the parts that add to a head of the table.
ORDO_DEVICE int64_t BandPart(const Problem& p, int64_t parts, int64_t head,
                             int64_t i) {
  if (p.table_heads == 1) return i;
  return (i / parts * p.heads + head) * parts + i % parts;
}

// The sums of dX over parts, a block for each distance and head of the table:
// a thread for each column, or as many as there are for one.
ORDO_KERNEL(kThreads)
HopperBandSums(const HopperArguments arguments) {
  // Reads that a thread has under way at once.
  constexpr int kReads = 8;
  const Problem& p = arguments.tiled.call.problem;
  const int thread = device::ThreadId();
  const int64_t width = p.query_band, row = device::BlockX();
  const int64_t slices = kThreads / width, parts = arguments.band_parts;
  const int64_t column = thread % width, slice = thread / width;
  const int64_t count = p.batch * p.heads / p.table_heads * parts;
  float* const shared = reinterpret_cast<float*>(device::SharedMemory());
  float sum = 0;
  for (int64_t first = slice; slice < slices && first < count;
       first += kReads * slices) {
    float found[kReads];
    ORDO_UNROLL
    for (int i = 0; i < kReads; ++i) {
      const int64_t one = first + i * slices;
      const int64_t at =
          BandPart(p, parts, device::BlockY(), one) * BandDistances(p) + row;
      found[i] =
          one < count ? arguments.d_band_parts[at * width + column] : 0.0F;
    }
    ORDO_UNROLL
    for (int i = 0; i < kReads; ++i) sum += found[i];
  }
  shared[thread] = sum;
  // All sums of a column are there.
  device::SyncThreads();
  if (slice > 0) return;
  for (int64_t i = 1; i < slices; ++i) sum += shared[i * width + column];
  const View& to = arguments.tiled.call.d_inputs[kQueryVector];
  StoreNumber(
      p.type, sum * p.scale,
      device::BlockY() * to.head_stride + row * to.token_stride + column,
      to.data);
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_SUMS_H_
