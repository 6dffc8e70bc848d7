#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_BAND_GRADIENTS_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_BAND_GRADIENTS_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_bands.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_spread.h"
#include "kernels/common/cpu_vectors.h"

// The gradients of cpu_tiled_bands.h.

namespace ordo::kernels::attention {
namespace {

// Zeros where gradients are summed up; those of keys once for all heads that
// share them.
void ClearBand(const HeadAt& at, const Band& band) {
  const Problem& p = at.problem();
  const Spread& vectors = band.vectors;
  if (!band.of_keys || at.is_first()) {
    ClearRows(band.d_tokens, band.of_keys ? p.keys : p.queries, vectors.width);
  }
  ClearRows(vectors.change, vectors.reach.count(), vectors.width);
  memset(band.d_ends[0], 0, 2 * (band.d_ends[1] - band.d_ends[0]) * 4);
  memset(band.askew - kAround * kAskewRow - kAround, 0, kAskew * 4);
}

void CopyAskew(const Band& band, const Place& place, const float* d_scores) {
  for (int64_t r = 0; r < kTile; ++r) {
    float* const to = band.askew + r * kAskewRow;
    for (int64_t c = 0; c < kTile; c += kLanes) {
      Store(to + c,
            r < place.num_queries ? Load(d_scores + r * kTile + c) : Vector{});
    }
  }
}

// The gradients of a tile with uneven position ids.
void DifferentiateUneven(const Band& band, const Place& place,
                         const float* d_scores) {
  const Spread& vectors = band.vectors;
  const Rows& tokens = band.tokens;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    for (int64_t c = 0; c < place.num_keys; ++c) {
      const float change = d_scores[r * kTile + c];
      if (change == 0) continue;
      const int64_t token = band.of_keys ? place.key + c : place.query + r;
      const float* const vector = VectorOf(band, place, r, c);
      if (band.d_tokens.data != nullptr) {
        AddScaled(change, vector, vectors.rows.row,
                  band.d_tokens.From(token).data);
      }
      if (vectors.change.data != nullptr) {
        AddScaled(change, tokens.From(token).data, vectors.rows.row,
                  vectors.change.data + (vector - vectors.rows.data));
      }
    }
  }
}

// From the gradient of a tile's product to those of queries and vectors.
void DifferentiateQueryBand(const Band& band, const Place& place,
                            const float* d_scores) {
  const Spread& vectors = band.vectors;
  const Span span = SpanOf(*band.problem, band.ids, place);
  const int end = vectors.reach.End(span);
  if (end >= 0) {
    for (int64_t r = 0; r < place.num_queries; ++r) {
      Vector sum = {};
      for (int64_t c = 0; c < kTile; c += kLanes) {
        sum += Load(d_scores + r * kTile + c);
      }
      band.d_ends[end][place.query + r] += Sum(sum);
    }
    return;
  }
  if (!span.even) return DifferentiateUneven(band, place, d_scores);
  CopyAskew(band, place, d_scores);
  const int64_t queries = place.num_queries;
  const Rows tokens = band.tokens.From(place.query);
  for (int64_t r = 0; band.d_tokens.data != nullptr && r < queries;
       r += kBlockRows) {
    // Keys before the first and behind the last have zeros.
    const int64_t rows = Least(kBlockRows, queries - r);
    Multiply({rows,
              vectors.rows.row,
              kTile + rows - 1,
              {band.askew + r * kAskewRow - (rows - 1), kAskewRow + 1, 1},
              vectors.rows.From(vectors.reach.At(span.first - r - (rows - 1))),
              band.d_tokens.From(place.query + r),
              true});
  }
  for (int64_t d = 1 - kTile; vectors.change.data != nullptr && d < kTile;
       d += kBlockRows) {
    // Query r meets distance d at key r + d.
    if (band.ids == nullptr && band.problem->causal && span.first + d > 0) {
      break;
    }
    const int64_t rows = Least(kBlockRows, kTile - d);
    const int64_t begin = d + rows > 0 ? 0 : 1 - d - rows;
    const int64_t last = Least(queries - 1, kTile - 1 - d);
    Multiply({rows,
              vectors.rows.row,
              last - begin + 1,
              {band.askew + begin * kAskewRow + begin + d, 1, kAskewRow + 1},
              tokens.From(begin),
              vectors.change.From(vectors.reach.At(span.first + d)),
              true});
  }
}

// The same to those of keys and vectors.
void DifferentiateKeyBand(const Band& band, const Place& place,
                          const float* d_scores) {
  const Spread& vectors = band.vectors;
  const Span span = SpanOf(*band.problem, band.ids, place);
  const int end = vectors.reach.End(span);
  if (end >= 0) {
    float* const sums = band.d_ends[end] + place.key;
    for (int64_t r = 0; r < place.num_queries; ++r) {
      for (int64_t c = 0; c < kTile; c += kLanes) {
        Store(sums + c, Load(sums + c) + Load(d_scores + r * kTile + c));
      }
    }
    return;
  }
  if (!span.even) return DifferentiateUneven(band, place, d_scores);
  CopyAskew(band, place, d_scores);
  const int64_t queries = place.num_queries, keys = place.num_keys;
  const Rows tokens = band.tokens.From(place.key);
  for (int64_t c = 0; band.d_tokens.data != nullptr && c < keys;
       c += kBlockRows) {
    // From the last query's distance on.
    const int64_t rows = Least(kBlockRows, keys - c);
    Multiply(
        {rows,
         vectors.rows.row,
         queries + rows - 1,
         {band.askew + (queries - 1) * kAskewRow + c, kAskewRow + 1,
          -kAskewRow},
         vectors.rows.From(vectors.reach.At(span.first + c - (queries - 1))),
         band.d_tokens.From(place.key + c),
         true});
  }
  for (int64_t d = 1 - queries; vectors.change.data != nullptr && d < keys;
       d += kBlockRows) {
    // Key c meets distance d at query c - d.
    if (band.ids == nullptr && band.problem->causal && span.first + d > 0) {
      break;
    }
    const int64_t rows = Least(kBlockRows, keys - d);
    const int64_t begin = d > 0 ? d : 0;
    const int64_t last = Least(keys - 1, d + rows - 1 + queries - 1);
    Multiply({rows,
              vectors.rows.row,
              last - begin + 1,
              {band.askew + (begin - d) * kAskewRow + begin, -kAskewRow,
               kAskewRow + 1},
              tokens.From(begin),
              vectors.change.From(vectors.reach.At(span.first + d)),
              true});
  }
}

// Adds what came from tiles beyond the farthest distances, writes the gradient
// of the tokens and folds that of the vectors into `part`.
void FinishBand(const HeadAt& at, const Band& band, float* part) {
  const Problem& p = at.problem();
  const Spread& vectors = band.vectors;
  const int64_t width = vectors.rows.row;
  const int64_t count = band.of_keys ? p.keys : p.queries;
  for (int end = 0; end < 2; ++end) {
    const int64_t i = vectors.reach.EndAt(end);
    for (int64_t t = 0; t < count; ++t) {
      const float change = band.d_ends[end][t];
      if (change == 0) continue;
      if (band.d_tokens.data != nullptr) {
        AddScaled(change, vectors.rows.From(i).data, width,
                  band.d_tokens.From(t).data);
      }
      if (vectors.change.data != nullptr) {
        AddScaled(change, band.tokens.From(t).data, width,
                  vectors.change.From(i).data);
      }
    }
  }
  const View& view = at.call->d_inputs[band.of_keys ? kKeyBand : kQueryBand];
  WriteTarget(band.d_tokens, count, vectors.width,
              band.of_keys ? at.OfKeys(view) : at.OfQueries(view));
  if (vectors.change.data != nullptr) FoldSpread(vectors, part);
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_BAND_GRADIENTS_H_
