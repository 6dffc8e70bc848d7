#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_hook.h"
#include "kernels/attention/cpu_tiled_rows.h"
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
  float* mixed[kMaxValues];
  float* largest;
  float* sums;
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
  room.largest = arena->Floats(kTile);
  room.sums = arena->Floats(kTile);
  room.hook = MakeHookRoom(p, arena);
  room.lse = arena->Floats(p.queries);
  room.delta = arena->Floats(p.queries);
  room.summed = arena->Floats(kTile * SummedRow(p));
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t padded = Padded(p.values[v].width);
    const int64_t own = IsDirect(p.type, p.values[v].width) ? 0 : padded;
    room.values[v] = arena->Floats(p.keys * own);
    room.d_mixed[v] = arena->Floats(p.queries * own);
    room.transposed_values[v] = arena->Floats(p.values[v].width * kTile);
    room.mixed[v] = arena->Floats(kTile * padded);
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
  int64_t batch;
  int64_t head;
  // Of the keys.
  int64_t key_head;
  Hook hook;
  Terms terms;
  Rows values[kMaxValues];
  // Of problems that have it.
  Summed summed;

  HeadAt at() const { return {call, batch, head, key_head}; }
  // The tokens of one of a view's heads.
  Head Of(const View& view, int64_t of_head) const {
    return {&view, batch * view.batch_stride + of_head * view.head_stride,
            problem->type};
  }
  // The head of a value tensor that goes with this one.
  int64_t ValueHead(int v) const {
    return problem->values[v].heads == problem->heads ? head : key_head;
  }
  // The number of a row of [B,H,T].
  int64_t Row(int64_t query) const {
    return (batch * problem->heads + head) * problem->queries + query;
  }
};

HeadWork Prepare(const Call& call, const Room& room, int64_t batch,
                 int64_t head) {
  const Problem& p = call.problem;
  HeadWork work;
  work.call = &call;
  work.problem = &p;
  work.room = &room;
  work.batch = batch;
  work.head = head;
  work.key_head = head / (p.heads / p.key_heads);
  const View* const in = call.inputs;
  for (int v = 0; v < p.num_values; ++v) {
    work.values[v] = Widened(work.Of(in[kValue + v], work.ValueHead(v)), p.keys,
                             p.values[v].width, room.values[v]);
  }
  work.hook = MakeHook(call, room.hook, batch, head);
  const int32_t* const ids =
      p.positioned ? call.facts.positions_BS + batch * p.keys : nullptr;
  work.terms = PrepareTerms(work.at(), room.terms, ids);
  if (p.summed) work.summed = PrepareSummed(work.at(), room.summed, ids);
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

// The first tile of keys that any query of the tile from `query` on sees.
int64_t FirstKey(const Hook& hook, int64_t query) {
  return hook.first == nullptr ? 0 : hook.first[query] / kTile * kTile;
}

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
  if (p.summed) ScaleSums(work.summed, r, factor);
}

// One step of the online softmax: logits of a tile become weights, `largest`
// and `sums` of its rows go on, and what is mixed so far is scaled to the new
// maximum; `begins` with the first tile of keys.
void Softmax(const HeadWork& work, const Place& place, bool begins) {
  const Room& room = *work.room;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    float* const scores = room.scores + r * kTile;
    Vector row[kTileVectors];
    work.hook.Apply(place, r, scores, row);
    Vector most = row[0];
#pragma GCC unroll 16
    for (int v = 1; v < kTileVectors; ++v) most = Max(most, row[v]);
    const float before = room.largest[r];
    const float found = Largest(most);
    const float largest = found > before ? found : before;
    Vector sum = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      const Vector weight = Exp2(row[v] - largest);
      sum += weight;
      Store(scores + v * kLanes, weight);
    }
    room.largest[r] = largest;
    if (begins) {
      room.sums[r] = Sum(sum);
      continue;
    }
    if (largest == before) {
      room.sums[r] += Sum(sum);
      continue;
    }
    const Vector factor = Exp2(All(before - largest));
    room.sums[r] = room.sums[r] * factor[0] + Sum(sum);
    ScaleMixed(work, r, factor);
  }
}

// Divides by the sums and writes a tile's results.
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
  if (p.summed) {
    WriteSums(work.summed, place, work.Of(call.outputs[kSummed], work.head));
  }
}

void ForwardHead(const HeadWork& work) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  for (int64_t query = 0; query < p.queries; query += kTile) {
    Place place{query, Least(kTile, p.queries - query), 0, 0};
    for (int64_t r = 0; r < kTile; ++r) room.largest[r] = kLowest;
    if (p.summed) memset(room.summed, 0, kTile * SummedRow(p) * 4);
    const int64_t seen = VisibleKeys(p, query, place.num_queries);
    const int64_t first = FirstKey(work.hook, query);
    for (place.key = first; place.key < seen; place.key += kTile) {
      place.num_keys = Least(kTile, p.keys - place.key);
      MultiplyTerms(p, work.terms, place, room.scores);
      Softmax(work, place, place.key == first);
      if (p.summed) AddWeights(work.summed, place, room.scores);
      for (int v = 0; v < p.num_values; ++v) {
        const int64_t width = Padded(p.values[v].width);
        Multiply({place.num_queries,
                  width,
                  place.num_keys,
                  {room.scores, kTile, 1},
                  work.values[v].From(place.key),
                  {room.mixed[v], width},
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
void PrepareRows(const HeadWork& work, const BackwardWork& back) {
  const Problem& p = *work.problem;
  const Call& call = *work.call;
  for (int64_t t = 0; t < p.queries; ++t) {
    work.room->lse[t] = call.lse_BHT[work.Row(t)] * kLog2E;
    float delta = 0;
    for (int v = 0; v < p.num_values; ++v) {
      if (back.d_mixed[v].data == nullptr) continue;
      const float* const gradient = back.d_mixed[v].From(t).data;
      const Head mixed = work.Of(call.outputs[kMixed + v], work.head);
      const int64_t at = t * mixed.view->token_stride;
      for (int64_t d = 0; d < p.values[v].width; ++d) {
        delta += gradient[d] * Read(mixed, at + d);
      }
    }
    if (HasSummedGradient(work)) {
      delta += SummedDelta(work.summed, t,
                           work.Of(call.outputs[kSummed], work.head));
    }
    work.room->delta[t] = delta;
  }
}

BackwardWork PrepareBackward(const HeadWork& work, const Unit& unit) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  const Call& call = *work.call;
  BackwardWork back = {};
  back.add_keys = work.head % (p.heads / p.key_heads) != 0;
  for (int v = 0; v < p.num_values; ++v) {
    const View& gradient = call.d_outputs[kMixed + v];
    if (gradient.data != nullptr) {
      back.d_mixed[v] = Widened(work.Of(gradient, work.head), p.queries,
                                p.values[v].width, room.d_mixed[v]);
    }
    back.d_values[v] =
        Target(work.Of(call.d_inputs[kValue + v], work.ValueHead(v)),
               p.values[v].width, room.d_values[v]);
  }
  back.parts = unit.parts + (work.batch * p.heads + work.head) * PartsStride(p);
  memset(back.parts, 0, PartsStride(p) * 4);
  back.tables = MakeTableSums(call, room.hook, back.parts);
  ClearTerms(work.at(), work.terms);
  return back;
}

// Logits of a tile become weights, and the gradients of the weights become
// those of q.k.
void Differentiate(const HeadWork& work, const BackwardWork& back,
                   const Place& place) {
  const Problem& p = *work.problem;
  const Room& room = *work.room;
  for (int64_t r = 0; r < place.num_queries; ++r) {
    float* const scores = room.scores + r * kTile;
    float* const d_scores = room.d_scores + r * kTile;
    Vector row[kTileVectors];
    work.hook.Apply(place, r, scores, row);
    const float lse = room.lse[place.query + r];
    const float delta = room.delta[place.query + r];
    Vector change[kTileVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row[v] = Exp2(row[v] - lse);
      change[v] = row[v] * (Load(d_scores + v * kLanes) - delta);
    }
    work.hook.Differentiate(place, r, back.tables, {scores, change});
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      Store(scores + v * kLanes, row[v]);
      Store(d_scores + v * kLanes, change[v] * p.scale);
    }
  }
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
  Differentiate(work, back, place);
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
      place, {place.key > FirstKey(work.hook, place.query), add_keys});
}

// Whether the tile of keys before `end` is behind what the tile of queries from
// `query` on, and those after it, see.
bool IsBefore(const Hook& hook, int64_t query, int64_t end) {
  return hook.first != nullptr && hook.first[query] >= end;
}

// Zeros for the gradients of a tile of keys that no query sees.
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
  FinishTerms(work.at(), work.terms, back.parts);
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
    WriteRows(rows, p.keys, width,
              work.Of(call.d_inputs[kValue + v], work.ValueHead(v)));
  }
}

void Backward(const Call& call, const Unit& unit) {
  ForEachHead(call, unit, [&](const HeadWork& work) {
    const BackwardWork back = PrepareBackward(work, unit);
    PrepareRows(work, back);
    BackwardHead(work, back);
    FinishRampSums(*work.problem, back.tables.ramp, back.parts);
    WriteGradients(work, back);
  });
}

constexpr TiledCode kCode = {RoomBytes, Forward, Backward, SumVectors};

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_BODY_H_
