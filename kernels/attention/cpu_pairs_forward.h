#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_FORWARD_H_

#include <stdint.h>

#include "kernels/attention/cpu_pairs_work.h"

// The forward pass of cpu_pairs.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// All tiles of keys and values.
inline void PrepareKeys(const HeadWork& work) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const View* const in = work.at.call->inputs;
  for (int64_t key = 0; key < p.keys; key += kTile) {
    const int64_t count = Least(kTile, p.keys - key);
    if (work.at.is_first()) {
      const Width width = WidthOf(p.width);
      ReadTile(work.at.OfKeys(in[kK]), {key, count}, width, room.k_tile.rows);
      PutAcross(room.k_tile.rows, width, room.k.across + key * width.pairs());
    }
    for (int v = 0; v < p.num_values; ++v) {
      if (work.Shares(v) && !work.at.is_first()) continue;
      const Width width = WidthOf(p.values[v].width);
      ReadTile(work.at.OfValue(in, v), {key, count}, width,
               room.value_tile.rows);
      PairTokens(room.value_tile.rows, width,
                 room.values[v].paired + key * width.pairs());
    }
  }
}

// Products of a tile become weights.
inline void Weigh(const HeadWork& work, const Place& place, bool begins) {
  const Room& room = *work.room;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    Vector row[kTileVectors];
    work.hook.Apply(place, r, room.scores + r * kTile, row);
    work.mixing.Step(r, begins, row);
    RoundedRow(row).Put(room.weights + r * kTilePairs);
  }
}

inline void ForwardQueries(const HeadWork& work, Place place) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const Width width = WidthOf(p.width);
  ReadTile(work.at.OfQueries(work.at.call->inputs[kQ]),
           {place.query, place.num_queries}, width, room.q.rows);
  work.mixing.Begin();
  const int64_t begin = work.Begin(place.query), end = work.End(place);
  for (place.key = begin; place.key < end; place.key += kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    work.products->multiply({place.num_queries, kTile, PairsOf(p.width),
                             room.q.rows, width.pairs(),
                             room.k.across + place.key * width.pairs(), kTile,
                             room.scores, kTile, false});
    Weigh(work, place, place.key == begin);
    for (int v = 0; v < p.num_values; ++v) {
      const Width wide = WidthOf(p.values[v].width);
      const Rows mixed = work.mixing.Of(v);
      work.products->multiply(
          {place.num_queries, mixed.row, PairsOf(place.num_keys), room.weights,
           kTilePairs, room.values[v].paired + place.key * wide.pairs(),
           wide.deep, mixed.data, mixed.row, place.key > begin});
    }
  }
  work.mixing.Finish(work.at, place);
}

inline void Forward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, [&](const HeadWork& work) {
    PrepareKeys(work);
    const int64_t queries = call.problem.queries;
    for (int64_t query = 0; query < queries; query += kTile) {
      ForwardQueries(work, {query, Least(kTile, queries - query), 0, 0});
    }
  });
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_FORWARD_H_
