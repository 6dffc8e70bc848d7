#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tiled_hook.h"
#include "kernels/common/cuda_device.h"

// Which keys a query sees, and the bias of their distance, in the passes of
// cuda_hopper.cu.

namespace ordo::kernels::attention {

// What is known of a step's keys and distances, brought by a warp. Distance d
// of a key from a query has element d + kQueries - 1 of `bias`, where both
// count in their tiles.
template <int kQueries, int kKeys>
struct SightFacts {
  // Times log2(e).
  float bias[kQueries + kKeys];
  uint8_t hidden[kKeys];
};

// Whether a warp has to bring them.
ORDO_DEVICE bool HasFacts(const Problem& p) { return p.biased || p.padded; }

template <int kQueries, int kKeys>
ORDO_DEVICE void LoadFacts(const Call& call, const HeadOf& of,
                           const Place& place,
                           SightFacts<kQueries, kKeys>* facts) {
  const Problem& p = call.problem;
  const int lane = device::ThreadId() % 32;
  const int64_t nearest =
      place.key - (p.keys - p.queries + place.query) - (kQueries - 1);
  for (int i = lane; p.biased && i < kQueries + kKeys; i += 32) {
    facts->bias[i] =
        TableOf(call, kBias, of.head)[TableAt(p, nearest + i)] * kLog2E;
  }
  for (int i = lane; p.padded && i < kKeys; i += 32) {
    const int64_t key = place.key + i;
    facts->hidden[i] =
        key >= p.keys || call.facts.real_BS[of.batch * p.keys + key] == 0;
  }
}

// Of a lane's two queries, from the number of one's first key to that of its
// last one.
struct Sight {
  int64_t first[2];
  int64_t last[2];
};

ORDO_DEVICE Sight SightOf(const Call& call, const HeadOf& of, int64_t query) {
  const Problem& p = call.problem;
  Sight sight;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t token = query + 8 * half;
    const bool real = token < p.queries;
    sight.first[half] = real ? FirstKey(call, of, token) : 0;
    const int64_t own = p.keys - p.queries + token;
    sight.last[half] = p.causal && own < p.keys ? own : p.keys - 1;
  }
  return sight;
}

ORDO_DEVICE int Clamped(int64_t x) {
  constexpr int kFar = 1 << 20;
  if (x > kFar) return kFar;
  return x < -kFar ? -kFar : static_cast<int>(x);
}

// -infinity in the place of products with keys, from `first_key` on, that a
// query does not see. `hidden`: of the keys, or null.
template <int kKeys>
ORDO_DEVICE void HideKeys(const Sight& sight, int64_t first_key,
                          const uint8_t* hidden,
                          float (&scores)[kKeys / 8][4]) {
  const int column = device::ThreadId() % 4 * 2;
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int first = Clamped(sight.first[half] - first_key) - column;
    const int last = Clamped(sight.last[half] - first_key) - column;
    ORDO_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int key = 8 * n + e;
        if (key < first || key > last ||
            (hidden != nullptr && hidden[key + column] != 0)) {
          scores[n][2 * half + e] = -INFINITY;
        }
      }
    }
  }
}

// Products become logits of base 2: times `scale`, and the bias of the distance
// between `key` and `query`, the lane's first ones in their tiles.
template <int kQueries, int kKeys>
ORDO_DEVICE void AddBias(float scale, int query,
                         const SightFacts<kQueries, kKeys>& facts,
                         float (&scores)[kKeys / 8][4]) {
  const float* const bias =
      facts.bias + device::ThreadId() % 4 * 2 - query + kQueries - 1;
  // Eight rows on are eight columns back.
  float before[2] = {bias[-8], bias[-7]};
  ORDO_UNROLL
  for (int n = 0; n < kKeys / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = bias[8 * n + e];
      scores[n][e] = fmaf(scores[n][e], scale, here);
      scores[n][2 + e] = fmaf(scores[n][2 + e], scale, before[e]);
      before[e] = here;
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_SIGHT_H_
