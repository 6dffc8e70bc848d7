#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_BACKWARD_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_BACKWARD_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_pairs_work.h"

// The backward pass of cpu_pairs.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// What the backward pass of a head has beside.
struct BackwardWork {
  // The head's of all tables' gradients.
  float* parts;
  TableSums tables;
  // Whether gradients of what mixes a value came, and are wanted.
  bool mixes[kMaxValues];
};

// A tile of queries, and whether the tile of keys has sums already.
struct Step {
  Place place;
  bool first;
};

// All tiles of what has queries, and what is known of their rows.
inline void PrepareQueries(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const Call& call = *work.at.call;
  const auto prepare = [&](const Head& head, int64_t numbers,
                           const FactorRoom& to) {
    const Width width = WidthOf(numbers);
    for (int64_t query = 0; query < p.queries; query += kTile) {
      const int64_t at = query * width.pairs();
      ReadTile(head, {query, Least(kTile, p.queries - query)}, width,
               to.rows + at);
      PutAcross(to.rows + at, width, room.value_tile.across);
      Turn(room.value_tile.across, width, to.turned + at);
    }
  };
  prepare(work.at.OfQueries(call.inputs[kQ]), p.width, room.q);
  for (int v = 0; v < p.num_values; ++v) {
    if (!back.mixes[v]) continue;
    prepare(work.at.OfQueries(call.d_outputs[kMixed + v]), p.values[v].width,
            room.d_mixed[v]);
  }
  MixedDeltas(work.at, 0, p.queries, room.delta);
  for (int64_t t = 0; t < p.queries; ++t) {
    room.lse[t] = call.lse_BHT[work.at.Row(t)] * kLog2E;
  }
}

inline BackwardWork PrepareBackward(const HeadWork& work, const Unit& unit) {
  const Problem& p = work.problem();
  const Call& call = *work.at.call;
  BackwardWork back = {};
  for (int v = 0; v < p.num_values; ++v) {
    back.mixes[v] = call.d_outputs[kMixed + v].data != nullptr;
  }
  back.parts = unit.parts + work.at.index() * PartsStride(p);
  memset(back.parts, 0, PartsStride(p) * 4);
  back.tables = MakeTableSums(call, work.room->hook, back.parts);
  return back;
}

// Weights and gradients of products as factors.
inline void RoundTile(const Room& room, int64_t num_queries) {
  if (num_queries % 2 != 0) {
    memset(room.scores + num_queries * kTile, 0, kTile * 4);
    memset(room.d_scores + num_queries * kTile, 0, kTile * 4);
  }
  int64_t r = 0;
  for (; r < num_queries; r += 2) {
    const float* const weights = room.scores + r * kTile;
    PairRows(RoundedRow(weights), RoundedRow(weights + kTile),
             room.paired_weights + r / 2 * kTile);
    const float* const changes = room.d_scores + r * kTile;
    const RoundedRow even(changes), odd(changes + kTile);
    PairRows(even, odd, room.paired_changes + r / 2 * kTile);
    even.Put(room.changes + r * kTilePairs);
    odd.Put(room.changes + (r + 1) * kTilePairs);
  }
  const int64_t rest = (kTile - r) / 2 * kTile * 4;
  memset(room.paired_weights + r / 2 * kTile, 0, rest);
  memset(room.paired_changes + r / 2 * kTile, 0, rest);
}

// The gradients of a tile's weights.
inline void MultiplyMixed(const HeadWork& work, const BackwardWork& back,
                          const Place& place) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  bool add = false;
  for (int v = 0; v < p.num_values; ++v) {
    if (!back.mixes[v]) continue;
    const Width wide = WidthOf(p.values[v].width);
    work.products->multiply({place.num_queries, kTile, PairsOf(wide.real),
                             room.d_mixed[v].rows + place.query * wide.pairs(),
                             wide.pairs(), room.values[v].across, kTile,
                             room.d_scores, kTile, add});
    add = true;
  }
  if (!add) memset(room.d_scores, 0, kTile * kTile * 4);
}

// Adds to the gradients of what the tile's queries and keys are.
inline void AddGradients(const HeadWork& work, const BackwardWork& back,
                         const Step& step) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const Place& place = step.place;
  const bool add_keys = !step.first || !work.at.is_first();
  const int64_t queries = PairsOf(place.num_queries);
  for (int v = 0; v < p.num_values; ++v) {
    if (!back.mixes[v]) continue;
    const Width wide = WidthOf(p.values[v].width);
    work.products->multiply(
        {wide.real, kTile, queries,
         room.d_mixed[v].turned + place.query * wide.pairs(), kTilePairs,
         room.paired_weights, kTile, room.d_values[v] + place.key * wide.deep,
         kTile, work.Shares(v) ? add_keys : !step.first});
  }
  const Width width = WidthOf(p.width);
  work.products->multiply({width.real, kTile, queries,
                           room.q.turned + place.query * width.pairs(),
                           kTilePairs, room.paired_changes, kTile,
                           room.dk + place.key * width.deep, kTile, add_keys});
  const int64_t padded = Padded(p.width);
  work.products->multiply({place.num_queries, padded, PairsOf(place.num_keys),
                           room.changes, kTilePairs, room.k_tile.paired,
                           width.deep, room.dq + place.query * padded, padded,
                           place.key > work.Begin(place.query)});
}

inline void BackwardTile(const HeadWork& work, const BackwardWork& back,
                         const Step& step) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const Place& place = step.place;
  const Width width = WidthOf(p.width);
  work.products->multiply({place.num_queries, kTile, PairsOf(width.real),
                           room.q.rows + place.query * width.pairs(),
                           width.pairs(), room.k_tile.across, kTile,
                           room.scores, kTile, false});
  MultiplyMixed(work, back, place);
  Differentiate(work.hook, back.tables, place,
                {room.scores, room.d_scores, room.lse, room.delta});
  RoundTile(room, place.num_queries);
  AddGradients(work, back, step);
}

// A tile of keys and values.
inline void PrepareTile(const HeadWork& work, const Place& place) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const View* const in = work.at.call->inputs;
  const TokenRange tokens = {place.key, place.num_keys};
  const Width width = WidthOf(p.width);
  ReadTile(work.at.OfKeys(in[kK]), tokens, width, room.k_tile.rows);
  PutAcross(room.k_tile.rows, width, room.k_tile.across);
  PairTokens(room.k_tile.rows, width, room.k_tile.paired);
  for (int v = 0; v < p.num_values; ++v) {
    const Width wide = WidthOf(p.values[v].width);
    ReadTile(work.at.OfValue(in, v), tokens, wide, room.value_tile.rows);
    PutAcross(room.value_tile.rows, wide, room.values[v].across);
  }
}

// Zeros for the sums of a tile of keys that no query needs, and of values that
// nothing came back for.
inline void ClearKeys(const HeadWork& work, const BackwardWork& back,
                      int64_t key, bool seen) {
  const Problem& p = work.problem();
  const bool first = work.at.is_first();
  const int64_t deep = Deep(p.width);
  if (!seen && first) memset(work.room->dk + key * deep, 0, kTile * deep * 4);
  for (int v = 0; v < p.num_values; ++v) {
    if (work.Shares(v) && !first) continue;
    if (seen && back.mixes[v]) continue;
    const int64_t wide = Deep(p.values[v].width);
    memset(work.room->d_values[v] + key * wide, 0, kTile * wide * 4);
  }
}

// Writes the gradients of a tile of keys, where all heads that share them are
// done.
inline void WriteKeys(const HeadWork& work, const Place& place) {
  const Problem& p = work.problem();
  const Room& room = *work.room;
  const View* const d_in = work.at.call->d_inputs;
  const bool last = work.at.is_last();
  const TokenRange tokens = {place.key, place.num_keys};
  if (last && d_in[kK].data != nullptr) {
    const float* const sums = room.dk + place.key * Deep(p.width);
    TurnedSums{sums, p.width, room.turned_back}.Write(work.at.OfKeys(d_in[kK]),
                                                      tokens);
  }
  for (int v = 0; v < p.num_values; ++v) {
    if (d_in[kValue + v].data == nullptr) continue;
    if (work.Shares(v) && !last) continue;
    const int64_t width = p.values[v].width;
    const float* const sums = room.d_values[v] + place.key * Deep(width);
    TurnedSums{sums, width, room.turned_back}.Write(work.at.OfValue(d_in, v),
                                                    tokens);
  }
}

inline void BackwardHead(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = work.problem();
  const int64_t past = p.keys - p.queries;
  Place place = {};
  for (; place.key < p.keys; place.key += kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    PrepareTile(work, place);
    const int64_t hidden = p.causal && place.key > past ? place.key - past : 0;
    const int64_t first = hidden / kTile * kTile;
    const int64_t end = place.key + place.num_keys;
    place.query = first;
    for (; place.query < p.queries; place.query += kTile) {
      if (work.hook.FirstKey(place.query) >= end) break;
      place.num_queries = Least(kTile, p.queries - place.query);
      BackwardTile(work, back, {place, place.query == first});
    }
    ClearKeys(work, back, place.key, place.query > first);
    WriteKeys(work, place);
  }
}

inline void Backward(const Call& call, const Unit& unit) {
  const Problem& p = call.problem;
  ForEachHead(call, unit, [&](const HeadWork& work) {
    const BackwardWork back = PrepareBackward(work, unit);
    PrepareQueries(work, back);
    BackwardHead(work, back);
    FinishModSums(p, back.tables.mod, back.parts);
    const View& d_q = call.d_inputs[kQ];
    if (d_q.data == nullptr) return;
    WriteRows({work.room->dq, Padded(p.width)}, p.queries, p.width,
              work.at.OfQueries(d_q));
  });
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_BACKWARD_H_
