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

// Of a warp: element (c, 8 m + g - c + 63) is the sum of a lane's terms for m
// and c; all others stay 0. So what a distance has lies one pitch apart in each
// warp. Lanes that write together, or read, do so in different banks.
struct DiagonalTerms {
  static constexpr int kPitch = 85;
  static constexpr int kOfWarp = 8 * kPitch;
  float terms[kGroupThreads / 32 * kOfWarp];
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

// Before the first step, by the group.
ORDO_DEVICE void BeginDiagonals(DiagonalTerms* terms) {
  ORDO_ROLLED
  for (int i = device::ThreadId() % kGroupThreads;
       i < kGroupThreads / 32 * DiagonalTerms::kOfWarp; i += kGroupThreads) {
    terms->terms[i] = 0;
  }
  // Other threads write there.
  SyncGroup();
}

// Adds what a step has.
ORDO_DEVICE void AddDiagonals(const float (&addends)[8][4],
                              const DiagonalPart& part, DiagonalTerms* terms) {
  const int thread = device::ThreadId() % kGroupThreads;
  const int c = thread % 4 * 2;
  float* const own = terms->terms + thread / 32 * DiagonalTerms::kOfWarp +
                     c * DiagonalTerms::kPitch + thread % 32 / 4 - c + 63;
  ORDO_UNROLL
  for (int m = -7; m <= 1; ++m) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      float sum = 0;
      if (m <= 0) sum += addends[m <= 0 ? -m : 0][e];
      if (m >= -6) sum += addends[m >= -6 ? 1 - m : 0][2 + e];
      own[e * (DiagonalTerms::kPitch - 1) + 8 * m] = sum;
    }
  }
  // A distance has terms of all warps.
  SyncGroup();
  // Thread i has the distance i - 63, which is i - 63 - 16 w to warp w, whose
  // distances go from -63 to 15.
  float sum = 0;
  ORDO_UNROLL
  for (int warp = 0; warp < kGroupThreads / 32; ++warp) {
    const int at = thread - 16 * warp;
    if (at < 0 || at > 78) continue;
    const float* const of_warp =
        terms->terms + warp * DiagonalTerms::kOfWarp + at;
    ORDO_UNROLL
    for (int i = 0; i < 8; ++i) sum += of_warp[i * DiagonalTerms::kPitch];
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
