#ifndef ORDO_KERNELS_ATTENTION_NEAR_KEYS_H_
#define ORDO_KERNELS_ATTENTION_NEAR_KEYS_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// Which keys may be left out because the bias falls with the distance, so that
// they have no weight: those of ALiBi's steep heads, of others as far as it is
// so. (Tiles left out by a bound of their logits: Lin et al. 2025,
// arXiv:2504.06949, for gates that forget.)
//
// Of a query i that sees its own key, the weight of a key j at distance -d is
// at most exp(spread + b[-d] - b[0]) of that of its own key, where for a head
// in a row of the batch
//
//   spread = |scale| max_i |q_i| max_j |k_j| - min_i scale q_i.k_i
//
// With S keys those from distance D on may go if for all d >= D
//
//   spread + b[-d] - b[0] + ln S < kNoShare
//
// as then they have less than exp(kNoShare) of a query's weights together, and
// a key has less than that of all queries together: an 80th of a rounding of
// fp32. Nothing is assumed of the bias.

namespace ordo::kernels::attention {

inline constexpr float kNoShare = -21;
// Norms and products are rounded: the first term of the spread times this.
inline constexpr float kRoomForRounding = 1.0001F;

// Whole tiles of keys are left out. Shorter rows have too few of them for what
// the spread costs.
inline constexpr int64_t kLeastKeys = 512;
inline constexpr int64_t kLeastQueries = 64;

// Whether logits are no more than a product and a bias, of distances that grow
// by one from key to key, and whether it is worth looking.
constexpr bool MayHaveFarKeys(const Problem& p) {
  const bool others = p.positioned || p.multiplied || p.rectified ||
                      HasMod(p) || p.query_band > 0 || p.key_band > 0 ||
                      p.by_channel || p.far_from > 0 || p.summed ||
                      p.gates != Gates::kNone;
  return p.causal && p.biased && !others && p.keys >= kLeastKeys &&
         p.queries >= kLeastQueries;
}

// Of one head: its table of the bias.
struct FallingBias {
  const float* bias;
  int64_t reach;
  // ln S.
  float ln_keys;

  // Whether keys at distance -d count. What is not a number counts.
  constexpr bool Counts(float spread, int64_t d) const {
    const float fall = bias[d < reach ? reach - d : 0] - bias[reach];
    return !(spread + fall + ln_keys < kNoShare);
  }
};

// Whether a tile or two could go if q and k were 0.
constexpr bool MayFallEnough(const Problem& p, const FallingBias& bias) {
  return !bias.Counts(0, p.keys - 128);
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_NEAR_KEYS_H_
