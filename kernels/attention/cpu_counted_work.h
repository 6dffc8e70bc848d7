#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_WORK_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_WORK_H_

#include <stdint.h>

#include "kernels/attention/cpu_counted_code.h"
#include "kernels/attention/cpu_counted_lanes.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_hook.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/attention/cpu_tiled_softmax.h"
#include "kernels/common/cpu_vectors.h"

// What both passes of cpu_counted.h work on; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// Rows whose parts of z's gradient are summed up side by side.
constexpr int64_t kSideBySide = 8;

// What a thread has to itself.
struct Room {
  // Copies of tensors, where they cannot be computed on as they lie.
  float* q;
  float* k;
  float* gate_q;
  float* gate_k;
  float* values[kMaxValues];
  float* d_mixed[kMaxValues];
  float* dq;
  float* dk;
  float* d_gate_q;
  float* d_gate_k;
  float* d_values[kMaxValues];
  // Of each tile of keys.
  float* transposed_k;
  float* transposed_gate_k;
  float* transposed_values[kMaxValues];
  HookRoom hook;
  // Of a tile of queries: with each tile of keys, ...
  float* products;
  float* gates;
  Counter* counts;
  // ... with one, ...
  float* weights;
  float* d_scores;
  float* d_gates;
  // ... and alone. The gradient of z is kept as pairs.
  Mixing mixing;
  Counter* count;
  float* d_count;
  float* lse;
  float* delta;
  float* z;
  float* d_z;
};

// Numbers between the rows of Room::z.
int64_t TermStride(const Problem& p) { return Padded(p.positions + kLanes); }

Room MakeRoom(const Problem& p, Arena* arena) {
  Room room;
  const int64_t tokens = Tokens(p);
  const int64_t copied = IsDirect(p.type, p.width) ? 0 : Padded(p.width);
  const bool own = p.gates == Gates::kOwn;
  float** const of_queries[] = {&room.q, &room.dq, &room.gate_q,
                                &room.d_gate_q};
  float** const of_keys[] = {&room.k, &room.dk, &room.gate_k, &room.d_gate_k};
  for (int i = 0; i < 4; ++i) {
    const int64_t width = i < 2 || own ? copied : 0;
    *of_queries[i] = arena->Floats(p.queries * width);
    *of_keys[i] = arena->Floats(p.keys * width);
  }
  room.transposed_k = arena->Floats(tokens * p.width);
  room.transposed_gate_k = arena->Floats(own ? tokens * p.width : 0);
  room.hook = MakeHookRoom(p, arena);
  room.products = arena->Floats(tokens * kTile);
  room.gates = arena->Floats(own ? tokens * kTile : 0);
  room.counts = reinterpret_cast<Counter*>(arena->Floats(tokens * 2));
  room.weights = arena->Floats(kTile * kTile);
  room.d_scores = arena->Floats(kTile * kTile);
  room.d_gates = arena->Floats(own ? kTile * kTile : 0);
  room.count = reinterpret_cast<Counter*>(arena->Floats(kTile * 2));
  room.mixing = MakeMixing(p, arena);
  float** const of_rows[] = {&room.d_count, &room.lse, &room.delta};
  for (float** const rows : of_rows) *rows = arena->Floats(kTile);
  room.z = arena->Floats(p.positions > 0 ? kTile * TermStride(p) : 0);
  room.d_z = arena->Floats(kTile * p.positions * 2);
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t width = p.values[v].width, padded = Padded(width);
    const int64_t own_width = IsDirect(p.type, width) ? 0 : padded;
    room.values[v] = arena->Floats(p.keys * own_width);
    room.d_mixed[v] = arena->Floats(p.queries * own_width);
    room.d_values[v] = arena->Floats(p.keys * own_width);
    room.transposed_values[v] = arena->Floats(tokens * width);
  }
  return room;
}

int64_t RoomBytes(const Problem& p) {
  Arena arena(nullptr);
  MakeRoom(p, &arena);
  return arena.used();
}

// A tile's q.k, and what gates of their own are of.
struct Products {
  float* scores;
  float* gates;
};

// Where those with the keys from `key` on are kept.
Products ProductsOf(const Room& room, int64_t key) {
  return {room.products + key * kTile, room.gates + key * kTile};
}

// What a unit of work has of a row of the batch and a head.
struct HeadWork {
  const Call* call;
  const Problem* problem;
  const Room* room;
  HeadAt at;
  Mixing mixing;
  Hook hook;
  Rows q;
  Rows k;
  Rows gate_q;
  Rows gate_k;
  Rows values[kMaxValues];
  // Of z, in base 2; 0: it has positions.
  float slope;

  // Queries of a tile see keys of the tiles from Begin's to before End.
  int64_t Begin(const Place& place) const {
    return hook.FirstTile(place.query);
  }
  int64_t End(const Place& place) const {
    const Problem& p = *problem;
    if (!p.causal) return p.keys;
    return p.keys - p.queries + place.query + place.num_queries;
  }
};

HeadWork Prepare(const Call& call, const Room& room, int64_t batch,
                 int64_t head) {
  const Problem& p = call.problem;
  const View* const in = call.inputs;
  HeadWork work = {};
  work.call = &call;
  work.problem = &p;
  work.room = &room;
  work.at = {&call, batch, head, head / (p.heads / p.key_heads)};
  work.mixing = room.mixing;
  work.mixing.problem = &p;
  work.q = Widened(work.at.OfQueries(in[kQ]), p.queries, p.width, room.q);
  work.k = Widened(work.at.OfKeys(in[kK]), p.keys, p.width, room.k);
  if (p.gates == Gates::kOwn) {
    work.gate_q =
        Widened(work.at.OfQueries(in[kGateQ]), p.queries, p.width, room.gate_q);
    work.gate_k =
        Widened(work.at.OfKeys(in[kGateK]), p.keys, p.width, room.gate_k);
  }
  for (int v = 0; v < p.num_values; ++v) {
    work.values[v] = Widened(work.at.OfValue(in, v), p.keys, p.values[v].width,
                             room.values[v]);
  }
  if (p.positions == 0) {
    work.slope = TableOf(in[kPositionSlope], head)[0] * kLog2E;
  }
  work.hook = MakeHook(call, room.hook, batch, head);
  return work;
}

// [keys, width] to [width, kTile] for each tile of keys.
void TransposeTiles(const Rows& rows, const Problem& p, int64_t width,
                    float* out) {
  for (int64_t key = 0; key < p.keys; key += kTile) {
    Transpose(rows.From(key), Least(kTile, p.keys - key), width,
              out + key * width);
  }
}

// Calls pass(work) for each head of a unit of work, with its keys transposed.
template <typename Pass>
void ForEachHead(const Call& call, const Unit& unit, const Pass& pass) {
  const Problem& p = call.problem;
  Arena arena(unit.room);
  const Room room = MakeRoom(p, &arena);
  const int64_t group = p.heads / p.key_heads;
  const int64_t first = unit.index % p.key_heads * group;
  for (int64_t head = first; head < first + group; ++head) {
    const HeadWork work = Prepare(call, room, unit.index / p.key_heads, head);
    if (head == first) {
      TransposeTiles(work.k, p, p.width, room.transposed_k);
      if (p.gates == Gates::kOwn) {
        TransposeTiles(work.gate_k, p, p.width, room.transposed_gate_k);
      }
    }
    pass(work);
  }
}

// How many numbers of z counts of a tile of queries reach.
int64_t ReachedPositions(const HeadWork& work, const Place& place) {
  return Least(work.problem->positions,
               work.End(place) - work.Begin(place) + 2);
}

// z of a tile of queries in base 2.
void PrepareTerms(const HeadWork& work, const Place& place) {
  const Problem& p = *work.problem;
  if (p.positions == 0) return;
  const int64_t reached = ReachedPositions(work, place);
  const View& view = work.call->inputs[kPositionTerm];
  const Head z = work.at.OfQueries(view);
  for (int64_t r = 0; r < place.num_queries; ++r) {
    float* const row = work.room->z + r * TermStride(p);
    const int64_t at = (place.query + r) * view.token_stride;
    for (int64_t i = 0; i < reached; ++i) row[i] = Read(z, at + i) * kLog2E;
    for (int64_t i = 0; i < kLanes; ++i) row[reached + i] = row[reached - 1];
  }
}

// q.k of a tile.
void MultiplyKeys(const HeadWork& work, const Place& place, float* out) {
  const int64_t width = work.problem->width;
  const Rows q = work.q.From(place.query);
  Multiply({place.num_queries,
            kTile,
            width,
            {q.data, q.row, 1},
            {work.room->transposed_k + place.key * width, kTile},
            {out, kTile},
            false});
}

// The products that gates of their own are of.
void MultiplyGates(const HeadWork& work, const Place& place, float* out) {
  const int64_t width = work.problem->width;
  if (work.problem->gates != Gates::kOwn) return;
  const Rows q = work.gate_q.From(place.query);
  Multiply({place.num_queries,
            kTile,
            width,
            {q.data, q.row, 1},
            {work.room->transposed_gate_k + place.key * width, kTile},
            {out, kTile},
            false});
}

// One row of a tile.
struct TileRow {
  // In base 2, but for z.
  Vector logits[kTileVectors];
  // What gates are of, times scale.
  const float* gates;
  float scale;
  Term term;

  // A vector's gates; closed for what is not seen. One that is not a number
  // makes its logit such, but counts as closed: numbers are looked up by
  // counts.
  Opening OpenGates(int v) {
    const Opening all = Open(Load(gates + v * kLanes) * scale);
    const Integers seen = logits[v] > All(kLowest);
    const Vector open = seen ? all.open : Vector{};
    logits[v] += open * 0.0F;
    return {open == open ? open : Vector{}, seen ? all.rise : Vector{}};
  }
};

// Row r of a tile.
TileRow RowOf(const HeadWork& work, const Place& place, int64_t r,
              const Products& products) {
  const Problem& p = *work.problem;
  TileRow row;
  row.gates =
      (p.gates == Gates::kOwn ? products.gates : products.scores) + r * kTile;
  row.scale = p.scale * kLog2E;
  row.term = {p.positions > 0 ? work.room->z + r * TermStride(p) : nullptr,
              static_cast<int32_t>(p.positions - 1), work.slope};
  work.hook.Apply(place, r, products.scores + r * kTile, row.logits);
  return row;
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_WORK_H_
