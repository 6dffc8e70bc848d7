#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_FORWARD_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_FORWARD_H_

#include <math.h>
#include <stdint.h>

#include "kernels/attention/cpu_counted_work.h"

// The forward pass of cpu_counted.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// Row r of all that is mixed times `factor`.
void ScaleMixed(const HeadWork& work, int64_t r, Vector factor) {
  const Problem& p = *work.problem;
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t width = Padded(p.values[v].width);
    float* const mixed = work.room->mixed[v] + r * width;
    for (int64_t d = 0; d < width; d += kLanes) {
      Store(mixed + d, Load(mixed + d) * factor);
    }
  }
}

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

// One step of the online softmax: logits of row r become weights, `largest` and
// `sums` of it go on, and what is mixed so far is scaled to the new maximum.
void SoftmaxRow(const HeadWork& work, int64_t r, bool first,
                const Vector* logits) {
  const Room& room = *work.room;
  Vector most = logits[0];
#pragma GCC unroll 16
  for (int v = 1; v < kTileVectors; ++v) most = Max(most, logits[v]);
  const float before = room.largest[r];
  const float found = Largest(most);
  const float largest = found > before ? found : before;
  Vector sum = {};
#pragma GCC unroll 16
  for (int v = 0; v < kTileVectors; ++v) {
    const Vector weight = Exp2(logits[v] - largest);
    sum += weight;
    Store(room.weights + r * kTile + v * kLanes, weight);
  }
  room.largest[r] = largest;
  if (first) {
    room.sums[r] = Sum(sum);
    return;
  }
  if (largest == before) {
    room.sums[r] += Sum(sum);
    return;
  }
  const Vector factor = Exp2(All(before - largest));
  room.sums[r] = room.sums[r] * factor[0] + Sum(sum);
  ScaleMixed(work, r, factor);
}

// From products of a tile to weights.
void Weigh(const HeadWork& work, const Place& place, bool first) {
  const Room& room = *work.room;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    TileRow row = RowOf(work, place, r, ProductsOf(room, 0));
    AddTerms(&row, room.count + r);
    SoftmaxRow(work, r, first, row.logits);
  }
}

// Divides by the sums and writes the results of a tile of queries.
void Finish(const HeadWork& work, const Place& place) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const Call& call = *work.call;
  float* const lse = call.lse_BHT + work.Row(place.query);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    const float sum = room.sums[r];
    lse[r] = sum == 0 ? INFINITY : kLn2 * room.largest[r] + logf(sum);
    ScaleMixed(work, r, All(sum == 0 ? 0 : 1 / sum));
  }
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t width = Padded(p.values[v].width);
    Head mixed = work.Of(call.outputs[kMixed + v], work.head);
    mixed.offset += place.query * mixed.view->token_stride;
    WriteRows({room.mixed[v], width}, place.num_queries, p.values[v].width,
              mixed);
  }
}

void ForwardQueries(const HeadWork& work, Place place) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  for (int64_t r = 0; r < kTile; ++r) {
    room.largest[r] = kLowest;
    room.count[r] = {};
  }
  PrepareTerms(work, place);
  const int64_t begin = work.Begin(place);
  const int64_t last = (work.End(place) - 1) / kTile * kTile;
  for (place.key = last; place.key >= begin; place.key -= kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    MultiplyKeys(work, place, room.products);
    MultiplyGates(work, place, room.gates);
    Weigh(work, place, place.key == last);
    for (int v = 0; v < p.num_values; ++v) {
      const int64_t width = Padded(p.values[v].width);
      Multiply({place.num_queries,
                width,
                place.num_keys,
                {room.weights, kTile, 1},
                work.values[v].From(place.key),
                {room.mixed[v], width},
                place.key < last});
    }
  }
  Finish(work, place);
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
