#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_hopper_mod_sums.h"
#include "kernels/attention/cuda_hopper_pieces.h"
#include "kernels/attention/cuda_hopper_sight.h"
#include "kernels/common/cuda_device.h"

// A score mod in the passes of cuda_hopper.cu: f is added to products, and the
// gradients of logits become those of t, r and theta. Where all pairs of a
// warp's step lie in one piece, theta is loaded once; elsewhere a pair takes
// that of its own piece, of the few that its block has.
//
// Legend: fragments x[n][e] of a warp's 16 rows, n a block
// (cuda_hopper_pieces.h).

namespace ordo::kernels::attention {

// What a lane's pairs are of, block after block, in the forward pass: rows are
// queries.
struct PairsOfRows {
  // Element 8 n + e is t of (n, e); eight rows on are eight columns back.
  const float* numbers;
  // r.
  float rows[2];
  float before[2];

  ORDO_DEVICE void Load(int n, ModPair<float> (&pairs)[4]) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = numbers[8 * n + e];
      pairs[e] = {here, rows[0]};
      pairs[2 + e] = {before[e], rows[1]};
      before[e] = here;
    }
  }
};

// Of `numbers` as SightFacts has them; `query`: the lane's first in its tile.
template <int kQueries, int kKeys>
ORDO_DEVICE PairsOfRows
MakePairsOfRows(const SightFacts<kQueries, kKeys>& facts, int query,
                const float (&rows)[2]) {
  const float* const numbers =
      facts.numbers + device::ThreadId() % 4 * 2 - query + kQueries - 1;
  return {numbers, {rows[0], rows[1]}, {numbers[-8], numbers[-7]}};
}

// The same in the backward pass: rows are keys.
struct PairsOfColumns {
  // Element -8 n - e is t of (n, e), eight rows on are eight columns back.
  const float* numbers;
  // Element 8 n + e is r.
  const float* columns;
  float before[2];

  ORDO_DEVICE void Load(int n, ModPair<float> (&pairs)[4]) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = numbers[-8 * n - e];
      const float r = columns[8 * n + e];
      pairs[e] = {here, r};
      pairs[2 + e] = {before[e], r};
      before[e] = here;
    }
  }
};

// `key`: the lane's first in its tile.
template <int kRows, int kNumbers>
ORDO_DEVICE PairsOfColumns
MakePairsOfColumns(const QueryFacts<kRows, kNumbers>& facts, int key) {
  const float* const numbers = TurnedNumbers(facts, key);
  return {numbers,
          facts.mod_query + device::ThreadId() % 4 * 2,
          {numbers[8], numbers[7]}};
}

// theta of a lane's pairs of a block; kOne: one for all of them.
template <typename Mod, bool kOne>
struct PairThetas {
  static constexpr int kCount = kOne ? 1 : 4;
  float theta[kCount][Mod::kParameters];
  int piece[kCount];

  ORDO_DEVICE void LoadOne(const HeadMod& of, int only) {
    piece[0] = only;
    LoadTheta<Mod>(of, only, theta[0]);
  }

  // Each pair's own, of the pieces from the first to the last.
  ORDO_DEVICE void LoadEach(const HeadMod& of, int first, int last,
                            const ModPair<float> (&pairs)[4]) {
    float next[Mod::kParameters];
    LoadTheta<Mod>(of, first, next);
    ORDO_UNROLL
    for (int e = 0; e < kCount; ++e) Take(e, first, next);
    ORDO_ROLLED
    for (int i = first; i < last; ++i) {
      const float knot = of.knots[i];
      LoadTheta<Mod>(of, i + 1, next);
      ORDO_UNROLL
      for (int e = 0; e < kCount; ++e) {
        if (knot < pairs[e].t * pairs[e].r) Take(e, i + 1, next);
      }
    }
  }

 private:
  ORDO_DEVICE void Take(int e, int from,
                        const float (&next)[Mod::kParameters]) {
    piece[e] = from;
    ORDO_UNROLL
    for (int i = 0; i < Mod::kParameters; ++i) theta[e][i] = next[i];
  }
};

// The mod of a warp's step.
template <int kBlocks>
struct StepMod {
  HeadMod of;
  StepPieces<kBlocks> pieces;
};

template <typename Mod, bool kOne, typename Pairs, int kBlocks>
ORDO_DEVICE void AddModOf(const StepMod<kBlocks>& mod, Pairs pairs, float scale,
                          float (&scores)[kBlocks][4]) {
  PairThetas<Mod, kOne> thetas;
  if constexpr (kOne) thetas.LoadOne(mod.of, mod.pieces.First(0));
  ORDO_UNROLL
  for (int n = 0; n < kBlocks; ++n) {
    ModPair<float> pair[4];
    pairs.Load(n, pair);
    if constexpr (!kOne) {
      thetas.LoadEach(mod.of, mod.pieces.First(n), mod.pieces.Last(n), pair);
    }
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float value =
          Mod::template Value<LaneMath>(pair[e], thetas.theta[kOne ? 0 : e]);
      scores[n][e] = fmaf(scores[n][e], scale, value);
    }
  }
}

// Products become logits, of base e.
template <typename Pairs, int kBlocks>
ORDO_DEVICE void AddMod(const StepMod<kBlocks>& mod, const Pairs& pairs,
                        float scale, float (&scores)[kBlocks][4]) {
  WithMod(mod.of.mod, [&](auto of) {
    using Mod = decltype(of);
    if (mod.pieces.one) {
      AddModOf<Mod, true>(mod, pairs, scale, scores);
    } else {
      AddModOf<Mod, false>(mod, pairs, scale, scores);
    }
  });
}

template <typename Mod, bool kOne, int kBlocks>
ORDO_DEVICE void DifferentiateModOf(const StepMod<kBlocks>& mod,
                                    PairsOfColumns pairs,
                                    const ModGradients& to,
                                    float (&changes)[kBlocks][4]) {
  const int lane = device::ThreadId() % 32;
  const int begin = mod.pieces.First(0);
  PairThetas<Mod, kOne> thetas;
  ThetaSums<Mod> sums = {to.theta, mod.of.pieces, begin, {}};
  if constexpr (kOne) thetas.LoadOne(mod.of, begin);
  ORDO_UNROLL
  for (int n = 0; n < kBlocks; ++n) {
    const int first = mod.pieces.First(n), last = mod.pieces.Last(n);
    ModPair<float> pair[4];
    pairs.Load(n, pair);
    if constexpr (!kOne) thetas.LoadEach(mod.of, first, last, pair);
    float columns[2] = {};
    float terms[4][Mod::kParameters];
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float change = changes[n][e];
      const auto gradient =
          Mod::template Gradient<LaneMath>(pair[e], thetas.theta[kOne ? 0 : e]);
      changes[n][e] = change * gradient.t;
      columns[e % 2] = fmaf(change, gradient.r, columns[e % 2]);
      ORDO_UNROLL
      for (int i = 0; i < Mod::kParameters; ++i) {
        terms[e][i] = change * gradient.theta[i];
        if (kOne) sums.own[i] += terms[e][i];
      }
    }
    const float sum = SumOfColumns(columns);
    if (lane % 16 < 4) to.rows[8 * n + lane % 4 * 2 + lane / 16] = sum;
    if constexpr (!kOne) sums.AddEach(first, last, thetas.piece, terms);
  }
  sums.Flush();
}

// What a step's gradients of logits add to those of r and of theta; they become
// their terms of that of t.
template <int kBlocks>
ORDO_DEVICE void DifferentiateMod(const StepMod<kBlocks>& mod,
                                  const PairsOfColumns& pairs,
                                  const ModGradients& to,
                                  float (&changes)[kBlocks][4]) {
  WithMod(mod.of.mod, [&](auto of) {
    using Mod = decltype(of);
    if (mod.pieces.one) {
      DifferentiateModOf<Mod, true>(mod, pairs, to, changes);
    } else {
      DifferentiateModOf<Mod, false>(mod, pairs, to, changes);
    }
  });
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MOD_H_
