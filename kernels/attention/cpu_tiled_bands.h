#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_BANDS_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_BANDS_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_spread.h"
#include "kernels/common/cpu_vectors.h"

// x_i . X[d] and y_j . Y[d] of a tile. The distances of a tile are a band of
// 127, of which each query, or key, meets 64 side by side: a few rows together
// meet little more, and are one product. A tile beyond the farthest distance
// has one number for each query, or key. Tiles with uneven position ids go
// element by element.

namespace ordo::kernels::attention {
namespace {

// Rows of a tile that are multiplied by one stretch of distances, and the
// stretch.
constexpr int64_t kStrip = 16;
constexpr int64_t kStretch = kTile + kStrip;

// A tile's gradient among zeros, so that it may be read askew: behind each of
// its rows there are zeros, and as many rows before and behind it.
constexpr int64_t kAround = 8;
constexpr int64_t kAskewRow = kTile + 2 * kAround;
constexpr int64_t kAskew = (kTile + 2 * kAround) * kAskewRow + 2 * kAround;
static_assert(kAround >= kBlockRows);

// Of the queries, or of the keys.
struct Band {
  const Problem* problem;
  bool of_keys;
  const int32_t* ids;
  Spread vectors;
  Rows tokens;
  // Null: not wanted.
  Rows d_tokens;
  // Of keys: in tiles, [width, kTile] each.
  float* transposed;
  // Products of all tokens and the vectors of both ends, and their gradients.
  float* ends[2];
  float* d_ends[2];
  float* strip;
  // Row 0 of the tile among zeros.
  float* askew;
};

struct BandRoom {
  SpreadRoom vectors;
  float* tokens;
  float* d_tokens;
  float* transposed;
  float* ends;
  float* strip;
  float* askew;
};

BandRoom MakeBandRoom(const Problem& p, int64_t width, bool of_keys,
                      Arena* arena) {
  BandRoom room;
  const bool has = width > 0;
  const int64_t count = of_keys ? Tokens(p) : p.queries;
  const int64_t own = IsDirect(p.type, width) ? 0 : Padded(width);
  room.vectors = MakeSpreadRoom(p, width, true, arena);
  room.tokens = arena->Floats(count * own);
  room.d_tokens = arena->Floats(count * own);
  room.transposed = arena->Floats(of_keys ? Tokens(p) * width : 0);
  room.ends = arena->Floats(has ? 4 * count : 0);
  room.strip = arena->Floats(has && !of_keys ? kStrip * kStretch : 0);
  room.askew = arena->Floats(has ? kAskew : 0);
  return room;
}

float Dot(const float* a, const float* b, int64_t width) {
  Vector sum = {};
  for (int64_t d = 0; d < width; d += kLanes) sum += Load(a + d) * Load(b + d);
  return Sum(sum);
}

void AddScaled(float factor, const float* from, int64_t width, float* to) {
  for (int64_t d = 0; d < width; d += kLanes) {
    Store(to + d, Load(to + d) + factor * Load(from + d));
  }
}

// Zeros behind the last of `count` tokens.
void SetEnds(const Band& band, int64_t count) {
  const Spread& vectors = band.vectors;
  for (int end = 0; end < 2; ++end) {
    const float* const vector =
        vectors.rows.From(vectors.reach.EndAt(end)).data;
    const int64_t room = band.ends[1] - band.ends[0];
    for (int64_t t = 0; t < room; ++t) {
      band.ends[end][t] =
          t < count ? Dot(band.tokens.From(t).data, vector, vectors.rows.row)
                    : 0;
    }
  }
}

Band PrepareBand(const HeadAt& at, const BandRoom& room, bool of_keys,
                 const int32_t* ids) {
  const Call& call = *at.call;
  const Problem& p = call.problem;
  const Input input = of_keys ? kKeyBand : kQueryBand;
  const int64_t width = of_keys ? p.key_band : p.query_band;
  const int64_t count = of_keys ? p.keys : p.queries;
  const int64_t stride = of_keys ? Tokens(p) : p.queries;
  const int64_t head = of_keys ? at.key_head : at.head;
  Band band;
  band.problem = &p;
  band.of_keys = of_keys;
  band.ids = ids;
  band.vectors =
      MakeSpread(at, of_keys ? kKeyVector : kQueryVector, width, room.vectors);
  SetAcross(band.vectors);
  band.tokens =
      Widened(at.Of(call.inputs[input], head), count, width, room.tokens);
  band.d_tokens =
      Target(at.Of(call.d_inputs[input], head), width, room.d_tokens);
  band.transposed = room.transposed;
  for (int64_t key = 0; of_keys && key < p.keys; key += kTile) {
    Transpose(band.tokens.From(key), Least(kTile, p.keys - key), width,
              room.transposed + key * width);
  }
  for (int i = 0; i < 2; ++i) {
    band.ends[i] = room.ends + i * stride;
    band.d_ends[i] = room.ends + (2 + i) * stride;
  }
  band.strip = room.strip;
  band.askew = room.askew + kAround * kAskewRow + kAround;
  SetEnds(band, count);
  return band;
}

const float* VectorOf(const Band& band, const Place& place, int64_t r,
                      int64_t c) {
  const Reach& reach = band.vectors.reach;
  const int64_t distance =
      DistanceOf(*band.problem, band.ids, place.query + r, place.key + c);
  return band.vectors.rows.From(reach.At(reach.Near(distance))).data;
}

// Adds a tile's part to its products, from queries.
void AddQueryBand(const Band& band, const Place& place, float* scores) {
  const Spread& vectors = band.vectors;
  const Span span = SpanOf(*band.problem, band.ids, place);
  const int end = vectors.reach.End(span);
  if (end >= 0) {
    for (int64_t r = 0; r < place.num_queries; ++r) {
      const float term = band.ends[end][place.query + r];
      float* const row = scores + r * kTile;
      for (int64_t c = 0; c < kTile; c += kLanes) {
        Store(row + c, Load(row + c) + term);
      }
    }
    return;
  }
  const Rows tokens = band.tokens.From(place.query);
  if (!span.even) {
    for (int64_t r = 0; r < place.num_queries; ++r) {
      for (int64_t c = 0; c < place.num_keys; ++c) {
        scores[r * kTile + c] += Dot(
            tokens.From(r).data, VectorOf(band, place, r, c), vectors.rows.row);
      }
    }
    return;
  }
  for (int64_t first = 0; first < place.num_queries; first += kStrip) {
    const int64_t rows = Least(kStrip, place.num_queries - first);
    const int64_t least = span.first - first - (kStrip - 1);
    Multiply({rows,
              kStretch,
              vectors.width,
              {tokens.From(first).data, tokens.row, 1},
              {vectors.across + vectors.reach.At(least), vectors.stride},
              {band.strip, kStretch},
              false});
    for (int64_t r = 0; r < rows; ++r) {
      const float* const from = band.strip + r * kStretch + kStrip - 1 - r;
      float* const row = scores + (first + r) * kTile;
      for (int64_t c = 0; c < kTile; c += kLanes) {
        Store(row + c, Load(row + c) + Load(from + c));
      }
    }
  }
}

// Adds y_j . Y[d] of kRows rows and a vector of keys: each key has its own
// vector of a row's distances, and one product of vectors has all of them.
template <int kRows>
void AddKeyRows(const Band& band, const float* keys, const float* vectors,
                float* scores) {
  Vector sums[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sums[r] = Load(scores + r * kTile);
  for (int64_t d = 0; d < band.vectors.width; ++d) {
    const Vector key = Load(keys);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sums[r] += key * Load(vectors - r);
    keys += kTile;
    vectors += band.vectors.stride;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) Store(scores + r * kTile, sums[r]);
}

// The same from keys.
void AddKeyBand(const Band& band, const Place& place, float* scores) {
  const Spread& vectors = band.vectors;
  const Span span = SpanOf(*band.problem, band.ids, place);
  const int end = vectors.reach.End(span);
  if (end >= 0) {
    const float* const terms = band.ends[end] + place.key;
    for (int64_t r = 0; r < place.num_queries; ++r) {
      float* const row = scores + r * kTile;
      for (int64_t c = 0; c < kTile; c += kLanes) {
        Store(row + c, Load(row + c) + Load(terms + c));
      }
    }
    return;
  }
  if (!span.even) {
    const Rows tokens = band.tokens.From(place.key);
    for (int64_t r = 0; r < place.num_queries; ++r) {
      for (int64_t c = 0; c < place.num_keys; ++c) {
        scores[r * kTile + c] += Dot(
            tokens.From(c).data, VectorOf(band, place, r, c), vectors.rows.row);
      }
    }
    return;
  }
  constexpr int kRows = ORDO_VECTOR_BYTES == 64 ? 16 : 8;
  const float* const keys = band.transposed + place.key * vectors.width;
  for (int64_t r = 0; r < place.num_queries; r += kRows) {
    const float* const from = vectors.across + vectors.reach.At(span.first - r);
    for (int64_t c = 0; c < kTile; c += kLanes) {
      AddKeyRows<kRows>(band, keys + c, from + c, scores + r * kTile + c);
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_BANDS_H_
