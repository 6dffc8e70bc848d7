#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_CHANNEL_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_CHANNEL_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_pair.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_spread.h"
#include "kernels/common/cpu_vectors.h"

// (q_i * C[d]) . k_j of a tile. All elements that count as the farthest
// distance are one product of scaled queries; those nearer have a triple
// product each, which costs some three times as much.

namespace ordo::kernels::attention {
namespace {

struct ChannelRoom {
  SpreadRoom vectors;
  float* rows;
  float* scores;
};

ChannelRoom MakeChannelRoom(const Problem& p, Arena* arena) {
  const int64_t width = p.by_channel ? p.width : 0;
  ChannelRoom room;
  room.vectors = MakeSpreadRoom(p, width, false, arena);
  room.rows = arena->Floats(kTile * Padded(width));
  room.scores = arena->Floats(p.by_channel ? kTile * kTile : 0);
  return room;
}

struct Channel {
  const Problem* problem;
  const int32_t* ids;
  Pair pair;
  Spread vectors;
  // Of a tile.
  Rows rows;
  float* scores;

  // Whether an element of a tile is farthest: 0 or 1 as of Reach::End; else -1.
  // Causal queries meet distance 0 once.
  int End(int64_t distance) const {
    if (distance <= vectors.reach.least) return 0;
    return !problem->causal && distance >= vectors.reach.most ? 1 : -1;
  }
};

Channel PrepareChannel(const HeadAt& at, const ChannelRoom& room,
                       const int32_t* ids, const Pair& pair) {
  const Problem& p = at.problem();
  return {&p,
          ids,
          pair,
          MakeSpread(at, kChannel, p.width, room.vectors),
          {room.rows, Padded(p.width)},
          room.scores};
}

// Calls take(r, c, distance) for the elements of a tile that its queries may
// see and that are not farthest.
template <typename Take>
void ForEachNear(const Channel& channel, const Place& place, const Span& span,
                 const Take& take) {
  const Problem& p = *channel.problem;
  const Reach& reach = channel.vectors.reach;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    int64_t begin = 0, end = place.num_keys;
    if (p.causal) {
      end = Least(end, p.keys - p.queries + place.query + r - place.key + 1);
    }
    if (span.even) {
      const int64_t first = reach.least - span.first + r + 1;
      begin = first > 0 ? first : 0;
      if (!p.causal) end = Least(end, reach.most - span.first + r);
    }
    for (int64_t c = begin; c < end; ++c) {
      const int64_t distance =
          span.even
              ? span.first + c - r
              : DistanceOf(p, channel.ids, place.query + r, place.key + c);
      if (channel.End(distance) < 0) take(r, c, reach.Near(distance));
    }
  }
}

// Which ends elements of a tile count as.
struct Ends {
  bool has[2];
};

Ends EndsOf(const Channel& channel, const Span& span) {
  return {{channel.End(span.least) == 0, channel.End(span.most) == 1}};
}

// A tile's queries times the vector of an end.
Rows Scaled(const Channel& channel, const Place& place, int end) {
  const Spread& vectors = channel.vectors;
  const float* const vector = vectors.rows.From(vectors.reach.EndAt(end)).data;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const float* const from = channel.pair.q.From(place.query + r).data;
    float* const to = channel.rows.From(r).data;
    for (int64_t d = 0; d < channel.rows.row; d += kLanes) {
      Store(to + d, Load(from + d) * Load(vector + d));
    }
  }
  return channel.rows;
}

// Moves the elements of a tile that are of end 1 from one map to another, and
// leaves zeros there.
void MoveEnd(const Channel& channel, const Place& place, float* from,
             float* to) {
  for (int64_t r = 0; r < place.num_queries; ++r) {
    for (int64_t c = 0; c < place.num_keys; ++c) {
      const int64_t i = r * kTile + c;
      const int64_t distance = DistanceOf(*channel.problem, channel.ids,
                                          place.query + r, place.key + c);
      if (channel.End(distance) != 1) continue;
      to[i] = from[i];
      from[i] = 0;
    }
  }
}

void MultiplyEnd(const Channel& channel, const Place& place, int end,
                 float* scores) {
  const Pair& pair = channel.pair;
  const Rows q = Scaled(channel, place, end);
  Multiply({place.num_queries,
            kTile,
            pair.width,
            {q.data, q.row, 1},
            {pair.transposed_k + place.key * pair.width, kTile},
            {scores, kTile},
            false});
}

// A tile's product.
void MultiplyByChannel(const Channel& channel, const Place& place,
                       float* scores) {
  const Pair& pair = channel.pair;
  const Spread& vectors = channel.vectors;
  const Span span = SpanOf(*channel.problem, channel.ids, place);
  const Ends ends = EndsOf(channel, span);
  if (ends.has[0]) {
    MultiplyEnd(channel, place, 0, scores);
  } else if (!ends.has[1]) {
    memset(scores, 0, kTile * kTile * 4);
  }
  if (ends.has[1]) {
    float* const others = ends.has[0] ? channel.scores : scores;
    MultiplyEnd(channel, place, 1, others);
    if (ends.has[0]) MoveEnd(channel, place, others, scores);
  }
  ForEachNear(channel, place, span,
              [&](int64_t r, int64_t c, int64_t distance) {
                const float* const q = pair.q.From(place.query + r).data;
                const float* const k = pair.k.From(place.key + c).data;
                const float* const vector =
                    vectors.rows.From(vectors.reach.At(distance)).data;
                Vector sum = {};
                for (int64_t d = 0; d < vectors.rows.row; d += kLanes) {
                  sum += Load(q + d) * Load(k + d) * Load(vector + d);
                }
                scores[r * kTile + c] = Sum(sum);
              });
}

// From the gradient of the elements of one end.
void DifferentiateEnd(const Channel& channel, const Place& place, int end,
                      const float* d_scores) {
  const Pair& pair = channel.pair;
  const Spread& vectors = channel.vectors;
  const int64_t width = vectors.rows.row;
  const int64_t at = vectors.reach.EndAt(end);
  if (pair.dk.data != nullptr) {
    Multiply({place.num_keys,
              width,
              place.num_queries,
              {d_scores, 1, kTile},
              Scaled(channel, place, end),
              pair.dk.From(place.key),
              true});
  }
  Multiply({place.num_queries,
            width,
            place.num_keys,
            {d_scores, kTile, 1},
            pair.k.From(place.key),
            channel.rows,
            false});
  for (int64_t d = 0; d < width; d += kLanes) {
    const Vector vector = Load(vectors.rows.From(at).data + d);
    Vector sum = {};
    for (int64_t r = 0; r < place.num_queries; ++r) {
      const Vector change = Load(channel.rows.From(r).data + d);
      sum += change * Load(pair.q.From(place.query + r).data + d);
      if (pair.dq.data == nullptr) continue;
      float* const to = pair.dq.From(place.query + r).data + d;
      Store(to, Load(to) + change * vector);
    }
    if (vectors.change.data == nullptr) continue;
    float* const to = vectors.change.From(at).data + d;
    Store(to, Load(to) + sum);
  }
}

// Adds the gradients of one triple product: of q, k and the vector, any of
// which may be null.
struct Triple {
  const float* of[3];
  float* change[3];

  void Differentiate(float factor, int64_t width) const {
    for (int i = 0; i < 3; ++i) {
      float* const to = change[i];
      const float* const a = of[(i + 1) % 3];
      const float* const b = of[(i + 2) % 3];
      if (to == nullptr) continue;
      for (int64_t d = 0; d < width; d += kLanes) {
        Store(to + d, Load(to + d) + factor * Load(a + d) * Load(b + d));
      }
    }
  }
};

float* RowOf(const Rows& rows, int64_t r) {
  return rows.data == nullptr ? nullptr : rows.From(r).data;
}

// Adds to the gradients of q, k and the vectors. Uses up `d_scores`.
void DifferentiateByChannel(const Channel& channel, const Place& place,
                            float* d_scores) {
  const Pair& pair = channel.pair;
  const Spread& vectors = channel.vectors;
  const int64_t width = vectors.rows.row;
  const Span span = SpanOf(*channel.problem, channel.ids, place);
  ForEachNear(
      channel, place, span, [&](int64_t r, int64_t c, int64_t distance) {
        const float change = d_scores[r * kTile + c];
        d_scores[r * kTile + c] = 0;
        const int64_t query = place.query + r, key = place.key + c;
        const int64_t at = vectors.reach.At(distance);
        const Triple triple{
            {RowOf(pair.q, query), RowOf(pair.k, key), RowOf(vectors.rows, at)},
            {RowOf(pair.dq, query), RowOf(pair.dk, key),
             RowOf(vectors.change, at)}};
        triple.Differentiate(change, width);
      });
  const Ends ends = EndsOf(channel, span);
  if (ends.has[0] && ends.has[1]) {
    memset(channel.scores, 0, kTile * kTile * 4);
    MoveEnd(channel, place, d_scores, channel.scores);
    DifferentiateEnd(channel, place, 0, d_scores);
    DifferentiateEnd(channel, place, 1, channel.scores);
    return;
  }
  if (ends.has[0] || ends.has[1]) {
    DifferentiateEnd(channel, place, ends.has[1] ? 1 : 0, d_scores);
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_CHANNEL_H_
