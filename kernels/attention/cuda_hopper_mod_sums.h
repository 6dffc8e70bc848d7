#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_SUMS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_SUMS_H_

#include <cstdint>

#include "kernels/attention/cuda_hopper_pieces.h"
#include "kernels/attention/cuda_hopper_sums.h"
#include "kernels/attention/cuda_score_mod.h"
#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/common/cuda_hopper.h"

// Sums of the gradients of a score mod's r and theta, in the backward pass of
// cuda_hopper.cu, each in one order. A warp's are in shared memory. Those of r
// are of a step's queries: who has the turn to add to the gradients of these
// adds them, too. Those of theta are of all steps of a head.

namespace ordo::kernels::attention {

// The most numbers that theta of a head is.
constexpr int MostParameters() {
  int64_t most = 0;
  for (const ScoreMod mod : kScoreMods) {
    most = ParametersOf(mod) > most ? ParametersOf(mod) : most;
  }
  return static_cast<int>(most * kMaxPieces);
}

// Of a block of the backward pass, in shared memory.
template <int kRows, int kWarps>
struct ModShared {
  alignas(16) uint8_t pieces[kWarps][kPiecesBytes];
  // What a warp's keys give to r of a step's queries; of two steps, in turn.
  float rows[2][kWarps][kRows];
  // What they have given to theta of the head, [P F].
  float theta[kWarps][MostParameters()];
};

// A warp's sums of the gradient of theta. Those of the piece that it is at are
// in registers.
template <typename Mod>
struct ThetaSums {
  // [P F], of the warp.
  float* sums;
  int pieces;
  int piece;
  // Of the lane.
  float own[Mod::kParameters];

  ORDO_DEVICE void Flush() {
    ORDO_UNROLL
    for (int i = 0; i < Mod::kParameters; ++i) {
      float sum = own[i];
      ORDO_UNROLL
      for (int mask = 16; mask > 0; mask /= 2) {
        sum += device::ShuffleXor(sum, mask);
      }
      if (device::ThreadId() % 32 == 0) sums[i * pieces + piece] += sum;
      own[i] = 0;
    }
  }

  // Terms of pairs of the pieces from the first to the last.
  ORDO_DEVICE void AddEach(int first, int last, const int (&piece_of)[4],
                           const float (&terms)[4][Mod::kParameters]) {
    ORDO_ROLLED
    for (int next = first; next <= last; ++next) {
      if (next != piece) Flush();
      piece = next;
      ORDO_UNROLL
      for (int e = 0; e < 4; ++e) {
        ORDO_UNROLL
        for (int i = 0; i < Mod::kParameters; ++i) {
          own[i] += piece_of[e] == next ? terms[e][i] : 0;
        }
      }
    }
  }
};

// The sums over a warp's rows of the lane's two columns: of the first one in
// lanes 0 to 15, of the second one in the others.
ORDO_DEVICE float SumOfColumns(const float (&columns)[2]) {
  const bool second = device::ThreadId() % 32 >= 16;
  const float other = device::ShuffleXor(second ? columns[0] : columns[1], 16);
  float sum = (second ? columns[1] : columns[0]) + other;
  sum += device::ShuffleXor(sum, 4);
  return sum + device::ShuffleXor(sum, 8);
}

// Where the gradients of a warp's step go: of r, an element for each column,
// and of theta, [P F].
struct ModGradients {
  float* rows;
  float* theta;
};

// Begins a warp's sums for theta.
ORDO_DEVICE void BeginTheta(float* theta) {
  ORDO_ROLLED
  for (int i = device::ThreadId() % 32; i < MostParameters(); i += 32) {
    theta[i] = 0;
  }
  device::SyncWarp();
}

// A group's part of the gradient of theta of a head, [P F], and its first warp.
struct ThetaPart {
  float* sums;
  int parameters;
  int first_warp;
};

// Adds the sums of the group's warps to its part, and begins them anew.
template <int kRows, int kWarps>
ORDO_DEVICE void EndTheta(const ThetaPart& part,
                          ModShared<kRows, kWarps>* shared) {
  // All warps' sums are there.
  SyncGroup();
  ORDO_ROLLED
  for (int i = device::ThreadId() % kGroupThreads; i < part.parameters;
       i += kGroupThreads) {
    float sum = 0;
    ORDO_UNROLL
    for (int warp = 0; warp < kGroupThreads / 32; ++warp) {
      float& of_warp = shared->theta[part.first_warp + warp][i];
      sum += of_warp;
      of_warp = 0;
    }
    // Nobody else has the part, and the same thread always has the element.
    part.sums[i] += sum;
  }
  // Warps add to their sums again.
  SyncGroup();
}

// Adds what all warps have for r of a step's queries, `step` counted modulo 2,
// to the sums of those that exist: `count`, from `sums` on. For a group of
// threads whose turn it is: turns order these additions.
template <int kRows, int kWarps>
ORDO_DEVICE void AddModQueries(const ModShared<kRows, kWarps>& shared, int step,
                               int64_t count, float* sums) {
  const int i = device::ThreadId() % kGroupThreads;
  if (i >= kRows || i >= count) return;
  float sum = 0;
  ORDO_UNROLL
  for (int warp = 0; warp < kWarps; ++warp) sum += shared.rows[step][warp][i];
  sums[i] += sum;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_SUMS_H_
