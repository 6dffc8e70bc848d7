#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_FAR_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_FAR_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_pair.h"
#include "kernels/common/cpu_vectors.h"

// Products of tiles: of q and k, or of the far pair from some distance on. A
// tile on one side of that distance costs one product, like any other; one
// that lies across costs two.

namespace ordo::kernels::attention {
namespace {

// The two pairs of a head.
struct Far {
  const Problem* problem;
  const int32_t* ids;
  Pair near;
  Pair pair;
  // A tile to work in.
  float* scores;
};

enum class Side { kNear, kFar, kBoth };

Side SideOf(const Far& far, const Place& place) {
  const Span span = SpanOf(*far.problem, far.ids, place);
  if (-span.most >= far.problem->far_from) return Side::kFar;
  return -span.least < far.problem->far_from ? Side::kNear : Side::kBoth;
}

// Calls take(at, far) for each vector of a tile: where it lies in it, and which
// of its elements are far.
template <typename Take>
void ForEachVector(const Far& far, const Place& place, const Take& take) {
  const Problem& p = *far.problem;
  const int64_t first = DistanceOf(p, far.ids, place.query, place.key);
  Integers lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    for (int64_t c = 0; c < kTile; c += kLanes) {
      if (far.ids == nullptr) {
        const int64_t last = r - first - p.far_from - c;
        take(r * kTile + c, lane <= static_cast<int32_t>(last) - Integers{});
        continue;
      }
      Integers is_far = {};
      for (int64_t i = 0; i < kLanes && c + i < place.num_keys; ++i) {
        const int64_t distance =
            DistanceOf(p, far.ids, place.query + r, place.key + c + i);
        is_far[i] = -distance >= p.far_from ? -1 : 0;
      }
      take(r * kTile + c, is_far);
    }
  }
}

void MultiplyNearOrFar(const Far& far, const Place& place, float* scores) {
  const Side side = SideOf(far, place);
  if (side != Side::kFar) MultiplyPair(far.near, place, scores);
  if (side == Side::kNear) return;
  float* const others = side == Side::kFar ? scores : far.scores;
  MultiplyPair(far.pair, place, others);
  if (side == Side::kFar) return;
  ForEachVector(far, place, [&](int64_t at, Integers is_far) {
    Store(scores + at, is_far ? Load(others + at) : Load(scores + at));
  });
}

// Adds to what ClearPair begins with.
void DifferentiateNearOrFar(const Far& far, const Place& place,
                            float* d_scores) {
  const Side side = SideOf(far, place);
  const float* d_far = d_scores;
  if (side == Side::kBoth) {
    ForEachVector(far, place, [&](int64_t at, Integers is_far) {
      const Vector change = Load(d_scores + at);
      Store(far.scores + at, is_far ? change : Vector{});
      Store(d_scores + at, is_far ? Vector{} : change);
    });
    d_far = far.scores;
  }
  if (side != Side::kFar) {
    DifferentiatePair(far.near, place, d_scores, {true, true});
  }
  if (side != Side::kNear) {
    DifferentiatePair(far.pair, place, d_far, {true, true});
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_FAR_H_
