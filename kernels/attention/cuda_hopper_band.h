#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_hopper_code.h"
#include "kernels/attention/cuda_tiled_hook.h"

// Vectors of few distances, x_i . X[d], in the passes of cuda_hopper.cu, where
// queries see no key after their own. From the farthest distance on all keys
// have the same one: there the term is a number of the query, which costs
// hardly anything. Only tiles at the diagonal read a term for each pair, of
// those that are there for all queries before the pass
// (cuda_hopper_band_rows.h).
//
// Backward, gradients of logits of near pairs are written where their distance
// is. That of the farthest one is what is left, as those of a query are 0
// together.
//
// Legend: L distances, at most kBandColumns. Terms, in base 2, and gradients
// are [B,H,T,L].

namespace ordo::kernels::attention {

// Where those of a query begin.
ORDO_DEVICE float* BandRow(float* begin, const Problem& p, const HeadOf& of,
                           int64_t query) {
  return begin + ((of.batch * p.heads + of.head) * p.queries + query) *
                     BandDistances(p);
}

// The term of the farthest distance; 0 for no query.
ORDO_DEVICE float FarTerm(const HopperArguments& arguments, const HeadOf& of,
                          int64_t query) {
  const Problem& p = arguments.tiled.call.problem;
  if (query >= p.queries) return 0;
  return *BandRow(arguments.band_terms_BHTL, p, of, query);
}

// Whether any of kQueries queries and kKeys keys are nearer than the farthest
// distance.
template <int kQueries, int kKeys>
ORDO_DEVICE bool IsNearby(const Problem& p, const Place& place) {
  const int64_t own = p.keys - p.queries + place.query;
  return place.key + kKeys - 1 - own > -p.reach;
}

// The element of a key in a query's row, where it is a near one: 1 to reach.
// Keys are fewer than 2^30.
ORDO_DEVICE int ElementOf(const Problem& p, int64_t query, int64_t key) {
  return static_cast<int>(key - (p.keys - p.queries + query) + p.reach);
}

// What a lane has where rows are queries: its first, and the terms of the
// farthest distance of that and of the one 8 rows on.
struct BandLane {
  HeadOf of;
  int64_t query;
  float far[2];
};

ORDO_DEVICE BandLane BandLaneOf(const HopperArguments& arguments,
                                const HeadOf& of, int64_t query) {
  return {of,
          query,
          {FarTerm(arguments, of, query), FarTerm(arguments, of, query + 8)}};
}

// Products with the keys from `first_key` on become logits of base 2.
template <int kKeys>
ORDO_DEVICE void AddNearTerms(const HopperArguments& arguments,
                              const BandLane& lane, int64_t first_key,
                              float (&scores)[kKeys / 8][4]) {
  const Problem& p = arguments.tiled.call.problem;
  const float scale = p.scale * kLog2E;
  const int reach = static_cast<int>(p.reach);
  ORDO_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int64_t query = lane.query + 8 * half;
    if (query >= p.queries) continue;
    const float* const terms =
        BandRow(arguments.band_terms_BHTL, p, lane.of, query);
    const int first =
        ElementOf(p, query, first_key + device::ThreadId() % 4 * 2);
    ORDO_UNROLL
    for (int n = 0; n < kKeys / 8; ++n) {
      ORDO_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int element = first + 8 * n + e;
        // Keys behind the query are hidden after this.
        float term = lane.far[half];
        if (element > 0 && element <= reach) term = terms[element];
        scores[n][2 * half + e] = fmaf(scores[n][2 * half + e], scale, term);
      }
    }
  }
}

// The same of far keys.
template <int kKeys>
ORDO_DEVICE void AddFarTerms(float scale, const BandLane& lane,
                             float (&scores)[kKeys / 8][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kKeys / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) {
      scores[n][e] = fmaf(scores[n][e], scale, lane.far[e / 2]);
    }
  }
}

// What a lane has where rows are keys: the rows of terms, or of gradients, from
// its first query on, how many there are, and which element of the first is
// that of its first key.
struct TurnedBand {
  float* rows;
  int length;
  int queries;
  int first;
};

// `place` is of the tile's first query and of the lane's first key.
ORDO_DEVICE TurnedBand TurnedBandOf(float* begin, const Problem& p,
                                    const HeadOf& of, const Place& place) {
  const int64_t query = place.query + device::ThreadId() % 4 * 2;
  return {BandRow(begin, p, of, query), static_cast<int>(BandDistances(p)),
          static_cast<int>(p.queries - query), ElementOf(p, query, place.key)};
}

// The element that is read: 0 of far keys, that of its own for keys behind a
// query, which sees none of them.
ORDO_DEVICE uint32_t ElementThere(int element, int reach) {
  const int there = element > 0 ? element : 0;
  return static_cast<uint32_t>(there < reach ? there : reach);
}

// AddNearTerms where rows are keys.
template <int kRows>
ORDO_DEVICE void AddTurnedTerms(const HopperArguments& arguments,
                                const HeadOf& of, const Place& place,
                                float (&scores)[kRows / 8][4]) {
  const Problem& p = arguments.tiled.call.problem;
  const float scale = p.scale * kLog2E;
  const TurnedBand band = TurnedBandOf(arguments.band_terms_BHTL, p, of, place);
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const int query = 8 * n + e;
      if (query >= band.queries) continue;
      const float* const terms = band.rows + query * band.length;
      ORDO_UNROLL
      for (int half = 0; half < 2; ++half) {
        float& score = scores[n][2 * half + e];
        score = fmaf(score, scale,
                     terms[ElementThere(band.first - query + 8 * half,
                                        band.length - 1)]);
      }
    }
  }
}

// Writes gradients of logits of near pairs, at places as in AddTurnedTerms. A
// pair is in one step of one block.
template <int kRows>
ORDO_DEVICE void StoreNearChanges(const HopperArguments& arguments,
                                  const HeadOf& of, const Place& place,
                                  const float (&changes)[kRows / 8][4]) {
  const TurnedBand band = TurnedBandOf(arguments.band_changes_BHTL,
                                       arguments.tiled.call.problem, of, place);
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int query = 8 * n + i % 2;
      const int element = band.first - query + i / 2 * 8;
      if (query >= band.queries || element <= 0 || element >= band.length)
        continue;
      band.rows[static_cast<uint32_t>(query * band.length + element)] =
          changes[n][i];
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_BAND_H_
