#ifndef ORDO_KERNELS_ATTENTION_CUDA_SCORE_MOD_H_
#define ORDO_KERNELS_ATTENTION_CUDA_SCORE_MOD_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/problem.h"
#include "kernels/common/cuda_device.h"

// Score mods (score_mod.h) in device code: a lane has a pair at a time.

namespace ordo::kernels::attention {

struct LaneMath {
  using Number = float;
  ORDO_SCORE_MOD static float Of(float x) { return x; }
  ORDO_SCORE_MOD static float Exp(float x) { return expf(x); }
  ORDO_SCORE_MOD static float Log(float x) { return logf(x); }
};

// The problem's mod for one head; kNone: it has none.
struct HeadMod {
  ScoreMod mod;
  int pieces;
  const float* knots;
  const float* theta;
};

// A pair, and the piece that it lies in.
struct ModAt {
  ModPair<float> pair;
  int piece;
};

// As many knots as lie below x.
ORDO_DEVICE int PieceOf(const HeadMod& of, float x) {
  int begin = 0, end = of.pieces - 1;
  while (begin < end) {
    const int middle = (begin + end) / 2;
    if (of.knots[middle] < x) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

ORDO_DEVICE ModAt FindPiece(const HeadMod& of, float t, float r) {
  return {{t, r}, PieceOf(of, t * r)};
}

template <typename Mod>
ORDO_DEVICE void LoadTheta(const HeadMod& of, int piece,
                           float (&theta)[Mod::kParameters]) {
  ORDO_UNROLL
  for (int i = 0; i < Mod::kParameters; ++i) {
    theta[i] = of.theta[i * of.pieces + piece];
  }
}

// f.
ORDO_DEVICE float ModValue(const HeadMod& of, const ModAt& at) {
  float value = 0;
  WithMod(of.mod, [&](auto mod) {
    using Mod = decltype(mod);
    float theta[Mod::kParameters];
    LoadTheta<Mod>(of, at.piece, theta);
    value = Mod::template Value<LaneMath>(at.pair, theta);
  });
  return value;
}

// Its gradient, of a mod that is known.
template <typename Mod>
ORDO_DEVICE ModGradient<float, Mod::kParameters> GradientOf(const HeadMod& of,
                                                            const ModAt& at) {
  float theta[Mod::kParameters];
  LoadTheta<Mod>(of, at.piece, theta);
  return Mod::template Gradient<LaneMath>(at.pair, theta);
}

// Its gradient by t.
ORDO_DEVICE float DistanceGradient(const HeadMod& of, const ModAt& at) {
  float gradient = 0;
  WithMod(of.mod,
          [&](auto mod) { gradient = GradientOf<decltype(mod)>(of, at).t; });
  return gradient;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_SCORE_MOD_H_
