#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_FORWARD_H_

#include <stdint.h>

#include "kernels/attention/cpu_counted_work.h"

// The forward pass of cpu_counted.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// Adds z to a row's logits, from the count of what is behind it to that of its
// first key.
void AddTerms(TileRow* row, Counter* count) {
  if (row->term.Ends(*count)) {
    const Vector constant = All(row->term.numbers[row->term.last]);
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) row->logits[v] += constant;
    return;
  }
  for (int v = kTileVectors - 1; v >= 0; --v) {
    const Counts counts = Count(row->OpenGates(v).open, count);
    row->logits[v] += Find(row->term, counts).value;
  }
}

// From products of a tile to weights.
void Weigh(const HeadWork& work, const Place& place, bool first) {
  const Room& room = *work.room;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    TileRow row = RowOf(work, place, r, ProductsOf(room, 0));
    AddTerms(&row, room.count + r);
    work.mixing.Step(r, first, row.logits);
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      Store(room.weights + r * kTile + v * kLanes, row.logits[v]);
    }
  }
}

void ForwardQueries(const HeadWork& work, Place place) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  work.mixing.Begin();
  for (int64_t r = 0; r < kTile; ++r) room.count[r] = {};
  PrepareTerms(work, place);
  const int64_t begin = work.Begin(place);
  const int64_t last = (work.End(place) - 1) / kTile * kTile;
  for (place.key = last; place.key >= begin; place.key -= kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    MultiplyKeys(work, place, room.products);
    MultiplyGates(work, place, room.gates);
    Weigh(work, place, place.key == last);
    for (int v = 0; v < p.num_values; ++v) {
      const Rows mixed = work.mixing.Of(v);
      Multiply({place.num_queries,
                mixed.row,
                place.num_keys,
                {room.weights, kTile, 1},
                work.values[v].From(place.key),
                mixed,
                place.key < last});
    }
  }
  work.mixing.Finish(work.at, place);
}

void Forward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, [&](const HeadWork& work) {
    const int64_t queries = call.problem.queries;
    for (int64_t query = 0; query < queries; query += kTile) {
      ForwardQueries(work, {query, Least(kTile, queries - query), 0, 0});
    }
  });
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_FORWARD_H_
