#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_WORK_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_WORK_H_

#include <stdint.h>

#include "kernels/attention/cpu_pairs_rows.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_hook.h"
#include "kernels/attention/cpu_tiled_softmax.h"
#include "kernels/common/cpu_vectors.h"

// What both passes of cpu_pairs.h work on; see cpu_vectors.h and, for what is
// across, turned and paired, cpu_pairs_rows.h.

namespace ordo::kernels::attention {
namespace {

// The factors that a tensor is in products, of all its tiles or of one.
struct FactorRoom {
  Pair* rows;
  Pair* across;
  Pair* turned;
  Pair* paired;
};

// What a thread has to itself.
struct Room {
  // Of a tile.
  float* scores;
  float* d_scores;
  Mixing mixing;
  // Weights, and gradients of q.k.
  Pair* weights;
  Pair* paired_weights;
  Pair* changes;
  Pair* paired_changes;
  FactorRoom k_tile;
  FactorRoom value_tile;
  float* turned_back;
  // Of all tokens.
  HookRoom hook;
  float* lse;
  float* delta;
  FactorRoom q;
  FactorRoom k;
  FactorRoom values[kMaxValues];
  FactorRoom d_mixed[kMaxValues];
  float* dq;
  float* dk;
  float* d_values[kMaxValues];
};

// The widest tensor's width.
inline int64_t MostWide(const Problem& p) {
  int64_t most = p.width;
  for (int v = 0; v < p.num_values; ++v) {
    most = -Least(-most, -p.values[v].width);
  }
  return most;
}

// For as many tokens, in all four ways.
inline FactorRoom MakeFactorRoom(int64_t tokens, int64_t width, Arena* arena) {
  const int64_t count = tokens * Deep(width) / 2;
  return {Pairs(count, arena), Pairs(count, arena), Pairs(count, arena),
          Pairs(count, arena)};
}

inline int64_t WholeTiles(int64_t tokens) {
  return (tokens + kTile - 1) / kTile * kTile;
}

// What the forward pass reads of all keys; the backward pass has a tile of them
// at a time, and all queries.
inline Room MakeRoom(const Problem& p, Arena* arena) {
  Room room = {};
  const int64_t queries = WholeTiles(p.queries), keys = Tokens(p);
  const int64_t most = MostWide(p);
  room.scores = arena->Floats(kTile * kTile);
  room.d_scores = arena->Floats(kTile * kTile);
  room.mixing = MakeMixing(p, arena);
  room.weights = Pairs(kTile * kTilePairs, arena);
  room.paired_weights = Pairs(kTile * kTilePairs, arena);
  room.changes = Pairs(kTile * kTilePairs, arena);
  room.paired_changes = Pairs(kTile * kTilePairs, arena);
  room.k_tile = MakeFactorRoom(kTile, p.width, arena);
  room.value_tile = MakeFactorRoom(kTile, most, arena);
  room.turned_back = arena->Floats(kTile * Padded(most));
  room.hook = MakeHookRoom(p, arena);
  room.lse = arena->Floats(p.queries);
  room.delta = arena->Floats(Padded(p.queries));
  const int64_t deep = Deep(p.width);
  room.q.rows = Pairs(queries * deep / 2, arena);
  room.q.turned = Pairs(queries * deep / 2, arena);
  room.k.across = Pairs(keys * deep / 2, arena);
  room.dq = arena->Floats(queries * Padded(p.width));
  room.dk = arena->Floats(keys * deep);
  for (int v = 0; v < p.num_values; ++v) {
    const int64_t wide = Deep(p.values[v].width);
    room.values[v].paired = Pairs(keys * wide / 2, arena);
    room.values[v].across = Pairs(kTile * wide / 2, arena);
    room.d_mixed[v].rows = Pairs(queries * wide / 2, arena);
    room.d_mixed[v].turned = Pairs(queries * wide / 2, arena);
    room.d_values[v] = arena->Floats(keys * wide);
  }
  return room;
}

inline int64_t RoomBytes(const Problem& p) {
  Arena arena(nullptr);
  MakeRoom(p, &arena);
  return arena.used();
}

// What a unit of work has of a row of the batch and a head.
struct HeadWork {
  const PairProducts* products;
  const Room* room;
  HeadAt at;
  Mixing mixing;
  Hook hook;

  const Problem& problem() const { return at.problem(); }
  // Queries of a tile need keys of the tiles from Begin's to before End.
  int64_t Begin(int64_t query) const { return hook.FirstTile(query); }
  int64_t End(const Place& place) const {
    const Problem& p = problem();
    if (!p.causal) return p.keys;
    return p.keys - p.queries + place.query + place.num_queries;
  }
  // Whether heads that share keys share a value tensor too.
  bool Shares(int v) const {
    return problem().values[v].heads != problem().heads;
  }
};

// Pairs that `count` numbers take.
inline int64_t PairsOf(int64_t count) { return (count + 1) / 2; }

// Calls pass(work) for each head of a unit of work.
template <typename Pass>
void ForEachHead(const Call& call, const Unit& unit, const Pass& pass) {
  const Problem& p = call.problem;
  Arena arena(unit.room);
  const Room room = MakeRoom(p, &arena);
  const int64_t group = p.heads / p.key_heads;
  const int64_t batch = unit.index / p.key_heads;
  const int64_t key_head = unit.index % p.key_heads;
  const PairProducts& products = *unit.products;
  if (products.begin != nullptr) products.begin();
  for (int64_t i = 0; i < group; ++i) {
    const int64_t head = key_head * group + i;
    HeadWork work = {&products,
                     &room,
                     {&call, batch, head, key_head},
                     room.mixing,
                     MakeHook(call, room.hook, batch, head)};
    work.mixing.problem = &p;
    pass(work);
  }
  if (products.end != nullptr) products.end();
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_WORK_H_
