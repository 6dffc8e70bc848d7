#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_NEAR_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_NEAR_H_

#include <math.h>
#include <stdint.h>

#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/near_keys.h"
#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"

// Up to which distance keys count; see near_keys.h.

namespace ordo::kernels::attention {
namespace {

// The largest so far; infinite where something was not finite.
inline void Enlarge(float x, float* largest) {
  if (!(x - x == 0)) x = INFINITY;
  if (x > *largest) *largest = x;
}

// Infinite where a query does not see its own key.
inline float SpreadOf(const HeadAt& at) {
  const Problem& p = at.problem();
  const Head keys = at.OfKeys(at.call->inputs[kK]);
  const Head queries = at.OfQueries(at.call->inputs[kQ]);
  const int64_t past = p.keys - p.queries;
  const uint8_t* const real =
      p.padded ? at.call->facts.real_BS + at.batch * p.keys : nullptr;
  // Squares of norms, and products with the query's own key times -scale.
  float most_q = 0, most_k = 0, most_below = -INFINITY;
  for (int64_t j = 0; j < p.keys; ++j) {
    const char* const key = RowAt(keys, j);
    const char* const query = j < past ? nullptr : RowAt(queries, j - past);
    Vector kk = {}, qq = {}, qk = {};
    ForEachVector(p.width, [&](const auto& place) {
      const Vector k = LoadAt(p.type, key, place);
      kk += k * k;
      if (query == nullptr) return;
      const Vector q = LoadAt(p.type, query, place);
      qq += q * q;
      qk += q * k;
    });
    Enlarge(Sum(kk), &most_k);
    if (query == nullptr) continue;
    if (real != nullptr && real[j] == 0) return INFINITY;
    Enlarge(Sum(qq), &most_q);
    Enlarge(-p.scale * Sum(qk), &most_below);
  }
  const float most =
      fabsf(p.scale) * sqrtf(most_q) * sqrtf(most_k) * kRoomForRounding;
  return most + most_below;
}

// The number of distances, from 0 on, at which keys count.
inline int64_t NearDistances(const HeadAt& at) {
  const Problem& p = at.problem();
  if (!MayHaveFarKeys(p)) return p.keys;
  const FallingBias bias = {TableOf(at.call->inputs[kBias], at.head), p.reach,
                            logf(static_cast<float>(p.keys))};
  if (!MayFallEnough(p, bias)) return p.keys;
  const float spread = SpreadOf(at);
  int64_t count = p.keys;
  while (count > 1 && !bias.Counts(spread, count - 1)) --count;
  return count;
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_NEAR_H_
