#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_hook.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_softmax.h"
#include "kernels/attention/cpu_tiled_summed.h"
#include "kernels/attention/cpu_tiled_terms.h"
#include "kernels/common/cpu_vectors.h"

// The code of cpu_tiled.h on vectors of ORDO_VECTOR_BYTES, for one .cc per
// instruction set, which defines that and is compiled for it. Everything is in
// an anonymous namespace, and nothing of the C++ library is instantiated: a
// function for a newer machine must not take the place of another file's.

namespace ordo::kernels::attention {
namespace {

// What a thread has to itself.
struct Room {
  float* values[kMaxValues];
  float* d_mixed[kMaxValues];
  float* transposed_values[kMaxValues];
  float* scores;
  float* d_scores;
  Mixing mixing;
  HookRoom hook;
  float* lse;
  float* delta;
  float* d_values[kMaxValues];
  TermsRoom terms;
  float* summed;
};

Room MakeRoom(const Problem& p, Arena* arena) {
  Room room;
  room.terms = MakeTermsRoom(p, arena);
  room.scores = arena->Floats(kTile * kTile);
  room.d_scores = arena->Floats(kTile * kTile);
  room.mixing = MakeMixing(p, arena);
  room.hook = MakeHookRoom(p, arena);
  room.lse = arena->Floats(p.queries);
  room.delta = arena->Floats(Padded(p.queries));
  room.summed = arena->Floats(kTile * SummedRow(p));
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t padded = Padded(p.values[v].width);
    const int64_t own = IsDirect(p.type, p.values[v].width) ? 0 : padded;
    room.values[v] = arena->Floats(p.keys * own);
    room.d_mixed[v] = arena->Floats(p.queries * own);
    room.transposed_values[v] = arena->Floats(p.values[v].width * kTile);
    room.d_values[v] = arena->Floats(p.keys * own);
  }
  return room;
}

int64_t RoomBytes(const Problem& p) {
  Arena arena(nullptr);
  MakeRoom(p, &arena);
  return arena.used();
}

// What a unit of work has of a row of the batch and a head.
struct HeadWork {
  const Call* call;
  const Problem* problem;
  const Room* room;
  HeadAt at;
  Mixing mixing;
  Hook hook;
  Terms terms;
  Rows values[kMaxValues];
  // Of problems that have it.
  Summed summed;
};

HeadWork Prepare(const Call& call, const Room& room, int64_t batch,
                 int64_t head) {
  const Problem& p = call.problem;
  HeadWork work;
  work.call = &call;
  work.problem = &p;
  work.room = &room;
  work.at = {&call, batch, head, head / (p.heads / p.key_heads)};
  work.mixing = room.mixing;
  work.mixing.problem = &p;
  for (int v = 0; v < p.num_values; ++v) {
    work.values[v] = Widened(work.at.OfValue(call.inputs, v), p.keys,
                             p.values[v].width, room.values[v]);
  }
  work.hook = MakeHook(call, room.hook, batch, head);
  const int32_t* const ids =
      p.positioned ? call.facts.positions_BS + batch * p.keys : nullptr;
  work.terms = PrepareTerms(work.at, room.terms, ids);
  if (p.summed) work.summed = PrepareSummed(work.at, room.summed, ids);
  return work;
}

// Calls pass(work) for each head of a unit of work.
template <typename Pass>
void ForEachHead(const Call& call, const Unit& unit, const Pass& pass) {
  const Problem& p = call.problem;
  Arena arena(unit.room);
  const Room room = MakeRoom(p, &arena);
  const int64_t group = p.heads / p.key_heads;
  const int64_t first = unit.index % p.key_heads * group;
  for (int64_t head = first; head < first + group; ++head) {
    pass(Prepare(call, room, unit.index / p.key_heads, head));
  }
}

// Keys that any query of the tile from `query` on sees.
int64_t VisibleKeys(const Problem& p, int64_t query, int64_t num_queries) {
  return p.causal ? p.keys - p.queries + query + num_queries : p.keys;
}

// One step of the online softmax: logits of a tile become weights.
void Softmax(const HeadWork& work, const Place& place, bool begins) {
  for (int64_t r = 0; r < place.num_queries; ++r) {
    float* const scores = work.room->scores + r * kTile;
    Vector row[kTileVectors];
    work.hook.Apply(place, r, scores, row);
    const Vector factor = work.mixing.Step(r, begins, row);
    if (work.problem->summed && factor[0] != 1) {
      ScaleSums(work.summed, r, factor);
    }
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) Store(scores + v * kLanes, row[v]);
  }
}

// Writes a tile's results.
void Finish(const HeadWork& work, const Place& place) {
  work.mixing.Finish(work.at, place);
  if (!work.problem->summed) return;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    ScaleSums(work.summed, r, All(work.mixing.Share(r)));
  }
  WriteSums(work.summed, place, work.at.OfQueries(work.call->outputs[kSummed]));
}

void ForwardHead(const HeadWork& work) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  for (int64_t query = 0; query < p.queries; query += kTile) {
    Place place{query, Least(kTile, p.queries - query), 0, 0};
    work.mixing.Begin();
    if (p.summed) memset(room.summed, 0, kTile * SummedRow(p) * 4);
    const int64_t seen = VisibleKeys(p, query, place.num_queries);
    const int64_t first = work.hook.FirstTile(query);
    for (place.key = first; place.key < seen; place.key += kTile) {
      place.num_keys = Least(kTile, p.keys - place.key);
      MultiplyTerms(p, work.terms, place, room.scores);
      Softmax(work, place, place.key == first);
      if (p.summed) AddWeights(work.summed, place, room.scores);
      for (int v = 0; v < p.num_values; ++v) {
        const Rows mixed = work.mixing.Of(v);
        Multiply({place.num_queries,
                  mixed.row,
                  place.num_keys,
                  {room.scores, kTile, 1},
                  work.values[v].From(place.key),
                  mixed,
                  place.key > first});
      }
    }
    Finish(work, place);
  }
}

void Forward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, ForwardHead);
}

// What the backward pass of a head has beside.
struct BackwardWork {
  Rows d_mixed[kMaxValues];
  // Null data: not wanted.
  Rows d_values[kMaxValues];
  // Whether other heads' sums are there already.
  bool add_keys;
  // The head's of all tables' gradients.
  float* parts;
  TableSums tables;
};

bool HasSummedGradient(const HeadWork& work) {
  return work.problem->summed && work.call->d_outputs[kSummed].data != nullptr;
}

// The rows of delta, sum over all that is mixed of its gradient times itself,
// and of the logarithms of the sums in base 2.
void PrepareRows(const HeadWork& work) {
  const Call& call = *work.call;
  const int64_t queries = work.problem->queries;
  float* const delta = work.room->delta;
  MixedDeltas(work.at, 0, queries, delta);
  for (int64_t t = 0; t < queries; ++t) {
    work.room->lse[t] = call.lse_BHT[work.at.Row(t)] * kLog2E;
    if (HasSummedGradient(work)) {
      delta[t] +=
          SummedDelta(work.summed, t, work.at.OfQueries(call.outputs[kSummed]));
    }
  }
}

BackwardWork PrepareBackward(const HeadWork& work, const Unit& unit) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const Call& call = *work.call;
  BackwardWork back = {};
  back.add_keys = !work.at.is_first();
  for (int v = 0; v < p.num_values; ++v) {
    const View& gradient = call.d_outputs[kMixed + v];
    if (gradient.data != nullptr) {
      back.d_mixed[v] = Widened(work.at.OfQueries(gradient), p.queries,
                                p.values[v].width, room.d_mixed[v]);
    }
    back.d_values[v] = Target(work.at.OfValue(call.d_inputs, v),
                              p.values[v].width, room.d_values[v]);
  }
  back.parts = unit.parts + work.at.index() * PartsStride(p);
  memset(back.parts, 0, PartsStride(p) * 4);
  back.tables = MakeTableSums(call, room.hook, back.parts);
  ClearTerms(work.at, work.terms);
  return back;
}

// One tile of the backward pass: five products and what lies between them.
void BackwardTile(const HeadWork& work, const BackwardWork& back,
                  const Place& place, bool first) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const int64_t queries = place.num_queries, keys = place.num_keys;
  const Rows scores{room.scores, kTile}, d_scores{room.d_scores, kTile};
  MultiplyTerms(p, work.terms, place, room.scores);
  bool add = false;
  for (int v = 0; v < p.num_values; ++v) {
    if (back.d_mixed[v].data == nullptr) continue;
    const Rows gradient = back.d_mixed[v].From(place.query);
    Multiply({queries,
              kTile,
              p.values[v].width,
              {gradient.data, gradient.row, 1},
              {room.transposed_values[v], kTile},
              d_scores,
              add});
    add = true;
  }
  if (!add) memset(room.d_scores, 0, kTile * kTile * 4);
  if (HasSummedGradient(work)) {
    AddSummedGradient(work.summed, place, room.d_scores);
  }
  Differentiate(work.hook, back.tables, place,
                {room.scores, room.d_scores, room.lse, room.delta});
  const bool add_keys = !first || back.add_keys;
  for (int v = 0; v < p.num_values; ++v) {
    if (back.d_mixed[v].data == nullptr || back.d_values[v].data == nullptr) {
      continue;
    }
    const bool shared = p.values[v].heads != p.heads;
    Multiply({keys,
              Padded(p.values[v].width),
              queries,
              {scores.data, 1, kTile},
              back.d_mixed[v].From(place.query),
              back.d_values[v].From(place.key),
              shared ? add_keys : !first});
  }
  TermsGradient{&p, &work.terms, room.d_scores}.Add(
      place, {place.key > work.hook.FirstTile(place.query), add_keys});
}

// Whether the tile of keys before `end` is behind what the tile of queries from
// `query` on, and those after it, need.
bool IsBefore(const Hook& hook, int64_t query, int64_t end) {
  return hook.FirstKey(query) >= end;
}

// Zeros for the gradients of a tile of keys that no query needs.
void ClearKeys(const HeadWork& work, const BackwardWork& back,
               const Place& place) {
  const Problem& p = *work.problem;
  const auto clear = [&](const Rows& rows, int64_t width, bool shared) {
    if (rows.data == nullptr || (shared && back.add_keys)) return;
    for (int64_t j = place.key; j < place.key + place.num_keys; ++j) {
      memset(rows.From(j).data, 0, width * 4);
    }
  };
  clear(work.terms.pair.dk, p.width, true);
  for (int v = 0; v < p.num_values; ++v) {
    clear(back.d_values[v], p.values[v].width, p.values[v].heads != p.heads);
  }
}

void BackwardHead(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = *work.problem;
  const int64_t past = p.keys - p.queries;
  Place place;
  for (place.key = 0; place.key < p.keys; place.key += kTile) {
    place.num_keys = Least(kTile, p.keys - place.key);
    for (int v = 0; v < p.num_values; ++v) {
      Transpose(work.values[v].From(place.key), place.num_keys,
                p.values[v].width, work.room->transposed_values[v]);
    }
    const int64_t hidden = p.causal && place.key > past ? place.key - past : 0;
    const int64_t first = hidden / kTile * kTile;
    const int64_t end = place.key + place.num_keys;
    if (IsBefore(work.hook, first, end)) ClearKeys(work, back, place);
    for (place.query = first; place.query < p.queries; place.query += kTile) {
      if (IsBefore(work.hook, place.query, end)) break;
      place.num_queries = Least(kTile, p.queries - place.query);
      BackwardTile(work, back, place, place.query == first);
    }
  }
}

// Writes what was summed up in the workspace. Nothing flowed back through a
// value tensor without a gradient.
void WriteGradients(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = *work.problem;
  const Call& call = *work.call;
  FinishTerms(work.at, work.terms, back.parts);
  for (int v = 0; v < p.num_values; ++v) {
    const Rows& rows = back.d_values[v];
    const int64_t width = p.values[v].width;
    if (rows.data == nullptr) continue;
    if (back.d_mixed[v].data == nullptr) {
      for (int64_t j = 0; j < p.keys; ++j) {
        memset(rows.From(j).data, 0, width * 4);
      }
    }
    if (IsDirect(p.type, width)) continue;
    WriteRows(rows, p.keys, width, work.at.OfValue(call.d_inputs, v));
  }
}

void Backward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, [&](const HeadWork& work) {
    const BackwardWork back = PrepareBackward(work, unit);
    PrepareRows(work);
    BackwardHead(work, back);
    FinishModSums(*work.problem, back.tables.mod, back.parts);
    WriteGradients(work, back);
  });
}

constexpr TiledCode kCode = {RoomBytes, Forward, Backward, SumVectors};

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_
