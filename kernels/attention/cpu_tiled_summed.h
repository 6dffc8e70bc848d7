#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_SUMMED_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_SUMMED_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_spread.h"
#include "kernels/common/cpu_vectors.h"

// Sums of weights by distance, gathered while the tiles of a query's keys go by
// and scaled with all else that is mixed.

namespace ordo::kernels::attention {
namespace {

struct Summed {
  const Problem* problem;
  const int32_t* ids;
  Reach reach;
  // Of a tile's queries: [kTile, row], spread. Null: the problem has none.
  float* sums;
  int64_t row;
  // The gradient; null data: zero.
  Head change;
};

int64_t SummedRow(const Problem& p) {
  return p.summed ? PartRow(ReachOf(p).count()) : 0;
}

Summed PrepareSummed(const HeadAt& at, float* room, const int32_t* ids) {
  const Problem& p = at.problem();
  return {&p,   ids,          ReachOf(p),
          room, SummedRow(p), at.OfQueries(at.call->d_outputs[kSummed])};
}

// Adds the weights of a tile.
void AddWeights(const Summed& summed, const Place& place,
                const float* weights) {
  const Reach& reach = summed.reach;
  const Span span = SpanOf(*summed.problem, summed.ids, place);
  const int end = reach.End(span);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const float* const from = weights + r * kTile;
    float* const to = summed.sums + r * summed.row;
    if (end >= 0) {
      Vector sum = {};
      for (int64_t c = 0; c < kTile; c += kLanes) sum += Load(from + c);
      to[reach.EndAt(end)] += Sum(sum);
    } else if (span.even) {
      float* const at = to + reach.At(span.first - r);
      for (int64_t c = 0; c < kTile; c += kLanes) {
        Store(at + c, Load(at + c) + Load(from + c));
      }
    } else {
      for (int64_t c = 0; c < place.num_keys; ++c) {
        const int64_t distance = DistanceOf(*summed.problem, summed.ids,
                                            place.query + r, place.key + c);
        to[reach.At(reach.Near(distance))] += from[c];
      }
    }
  }
}

void ScaleSums(const Summed& summed, int64_t r, Vector factor) {
  float* const row = summed.sums + r * summed.row;
  for (int64_t i = 0; i < summed.row; i += kLanes) {
    Store(row + i, Load(row + i) * factor);
  }
}

// Writes the sums of a tile's queries: each place has those of all that is
// spread from it.
void WriteSums(const Summed& summed, const Place& place, const Head& out) {
  const Reach& reach = summed.reach;
  const int64_t first = reach.PlaceOf(0);
  const int64_t last = reach.PlaceOf(reach.count() - 1);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const float* from = summed.sums + r * summed.row;
    const int64_t at = (place.query + r) * out.view->token_stride;
    for (int64_t i = 0; i < summed.problem->distances(); ++i) {
      float sum = 0;
      if (i >= first && i <= last) {
        sum = *from++;
        if (i == first) {
          for (int64_t n = 0; n < kBeyond; ++n) sum += *from++;
        }
        if (i == last) {
          for (int64_t n = 0; n < kBeyond; ++n) sum += *from++;
        }
      }
      Write(out, at + i, sum);
    }
  }
}

// Adds the part of the sums to the gradient of a tile's weights.
void AddSummedGradient(const Summed& summed, const Place& place,
                       float* d_weights) {
  const Reach& reach = summed.reach;
  const Head& change = summed.change;
  const Span span = SpanOf(*summed.problem, summed.ids, place);
  const int end = reach.End(span);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const int64_t at = (place.query + r) * change.view->token_stride;
    float* const to = d_weights + r * kTile;
    const int64_t begin = span.first - r;
    float terms[kTile];
    const float* from = terms;
    if (end >= 0) {
      const float term = Read(change, at + reach.PlaceOf(reach.EndAt(end)));
      for (int64_t c = 0; c < kTile; ++c) terms[c] = term;
    } else if (span.even && change.type == Type::kFloat32 &&
               begin >= reach.least && begin + kTile - 1 <= reach.most) {
      from = static_cast<const float*>(change.view->data) + change.offset + at +
             begin + reach.zero;
    } else {
      for (int64_t c = 0; c < kTile; ++c) {
        const int64_t distance =
            span.even ? begin + c
                      : DistanceOf(*summed.problem, summed.ids, place.query + r,
                                   place.key + Least(c, place.num_keys - 1));
        terms[c] = Read(change, at + reach.Near(distance) + reach.zero);
      }
    }
    for (int64_t c = 0; c < kTile; c += kLanes) {
      Store(to + c, Load(to + c) + Load(from + c));
    }
  }
}

// A query's part of the sum over all that is mixed of its gradient times
// itself.
float SummedDelta(const Summed& summed, int64_t query, const Head& out) {
  const int64_t at = query * out.view->token_stride;
  const int64_t change_at = query * summed.change.view->token_stride;
  float delta = 0;
  for (int64_t i = 0; i < summed.problem->distances(); ++i) {
    delta += Read(summed.change, change_at + i) * Read(out, at + i);
  }
  return delta;
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_SUMMED_H_
