#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SUMS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SUMS_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/attention/cuda_tile.h"
#include "kernels/attention/cuda_tiled_hook.h"
#include "kernels/common/cuda_hopper.h"

// Sums over pairs of one distance, for the gradient of a table, in one order:
// of the gradients of logits, or of those times the products that M multiplies.
// A group has a part of the table's gradient for itself
// (TiledArguments::d_parts).
//
// Legend: a fragment x[n][e] of 64 keys and 64 queries: of warp w and lane
// 4 g + t, element (16 w + g + 8 (e / 2), 8 n + 2 t + e % 2). Its distance is
// 16 w + g + 8 m - c for m = e / 2 - n, from -7 to 1, and c = 2 t + e % 2.

namespace ordo::kernels::attention {

// Of a lane, its sum for each m and parity of e: element m + 7 of `rows`, and
// in it 128 e + 32 w + 8 t + g. Lanes of neighbouring distances read from
// different banks.
struct DiagonalTerms {
  static constexpr int kTerms = 9;
  static constexpr int kRow = 2 * kGroupThreads + 8;
  float rows[kTerms][kRow];
};

// Threads of the group that computes, which come here together.
ORDO_DEVICE void SyncGroup() {
  device::SyncSome(device::GroupId(), kGroupThreads);
}

// A group's part of the gradient: element `zero` of it is that of the distance
// between the first key and the first query of a step. Terms count times
// `scale`.
struct DiagonalPart {
  float* sums;
  int64_t length;
  int64_t zero;
  float scale;
};

// Adds what a step has.
ORDO_DEVICE void AddDiagonals(const float (&addends)[8][4],
                              const DiagonalPart& part, DiagonalTerms* terms) {
  const int thread = device::ThreadId() % kGroupThreads;
  const int own = thread / 32 * 32 + thread % 4 * 8 + thread % 32 / 4;
  ORDO_UNROLL
  for (int m = -7; m <= 1; ++m) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      float sum = 0;
      if (m <= 0) sum += addends[m <= 0 ? -m : 0][e];
      if (m >= -6) sum += addends[m >= -6 ? 1 - m : 0][2 + e];
      terms->rows[m + 7][e * kGroupThreads + own] = sum;
    }
  }
  // A distance has terms of all warps.
  SyncGroup();
  // Thread i has the distance i - 63.
  float sum = 0;
  // Unrolled it would take as many registers as it has addresses.
  ORDO_ROLLED
  for (int c = 0; c < 8; ++c) {
    const int x = thread - 63 + c;
    const int g = x & 7;
    const float* const terms_of =
        terms->rows[0] + c % 2 * kGroupThreads + c / 2 * 8 + g;
    ORDO_UNROLL
    for (int warp = 0; warp < 4; ++warp) {
      const int m = (x - g) / 8 - 2 * warp;
      if (m < -7 || m > 1) continue;
      sum += terms_of[(m + 7) * DiagonalTerms::kRow + warp * 32];
    }
  }
  const int64_t at = part.zero + thread - 63;
  // In another step another thread has this element: the barrier below lies
  // between.
  if (thread < 127 && at >= 0 && at < part.length) {
    part.sums[at] += sum * part.scale;
  }
  // The next step's terms take the place of these.
  SyncGroup();
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SUMS_H_
