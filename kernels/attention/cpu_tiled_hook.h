#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_HOOK_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_HOOK_H_

#include <stdint.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_head.h"
#include "kernels/attention/cpu_tiled_mod.h"
#include "kernels/attention/cpu_tiled_near.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// What makes logits of products and their gradients of gradients of logits, a
// row of a tile at a time.

namespace ordo::kernels::attention {
namespace {

// What a thread has for it.
struct HookRoom {
  float* hidden;
  float* bias;
  float* multiplier;
  DistanceRoom distances;
  ModRoom mod;
};

HookRoom MakeHookRoom(const Problem& p, Arena* arena) {
  HookRoom room;
  room.hidden = arena->Floats(p.padded ? Tokens(p) : 0);
  room.bias = arena->Floats(p.biased ? SpreadStride(p) : 0);
  room.multiplier = arena->Floats(p.multiplied ? SpreadStride(p) : 0);
  room.distances = MakeDistanceRoom(p, arena);
  room.mod = MakeModRoom(p, arena);
  return room;
}

// Sums of gradients of one head's tables; null: not wanted.
struct TableSums {
  float* bias;
  float* multiplier;
  ModSums mod;
};

// A row of a tile on its way back: what the products were, and the gradient.
struct RowChange {
  const float* products;
  Vector* change;
};

// Logits of one head in base 2.
struct Hook {
  const Problem* problem;
  Distances distances;
  // Of distances, spread; the first times log2(e). Null: none.
  const float* bias;
  const float* multiplier;
  // With null tables unless there is one.
  HeadMod mod;
  // 0 or kHidden for each key; null: none.
  const float* hidden;
  // The first keys of the queries; null: 0.
  const int32_t* first;
  // The number of distances, from 0 on, at which keys count.
  int64_t near;
  float scale;

  // The first key that the queries from `query` on need.
  int64_t FirstKey(int64_t query) const {
    const int64_t seen = first == nullptr ? 0 : first[query];
    const int64_t token = problem->keys - problem->queries + query;
    return -Least(-seen, near - 1 - token);
  }
  // That of the tile that has it.
  int64_t FirstTile(int64_t query) const {
    return FirstKey(query) / kTile * kTile;
  }

  // From q.k of row r of the tile: kTileVectors vectors.
  void Apply(const Place& place, int64_t r, const float* products,
             Vector* row) const {
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row[v] = Load(products + v * kLanes) * All(scale);
    }
    if (problem->rectified) {
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) row[v] = Max(Vector{}, row[v]);
    }
    if (has_tables()) AddTables(place, r, row);
    if (hidden != nullptr) {
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        row[v] += Load(hidden + place.key + v * kLanes);
      }
    }
    Hide(place, r, row);
  }

  // From the gradient of row r of the logits to that of its q.k over the
  // scale; adds to the gradients of tables.
  void Differentiate(const Place& place, int64_t r, const TableSums& sums,
                     const RowChange& row) const {
    if (has_tables()) {
      const RowPlaces places = distances.Find(place, r);
      if (sums.bias != nullptr) places.Add(row.change, sums.bias);
      if (mod.table != nullptr && sums.mod.theta != nullptr) {
        mod.Differentiate(places, place.query + r, sums.mod, row.change);
      }
      if (multiplier != nullptr) {
        MultiplyGradient(places, sums.multiplier, row);
      }
    }
    if (!problem->rectified) return;
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row.change[v] = Load(row.products + v * kLanes) * All(scale) > Vector{}
                          ? row.change[v]
                          : Vector{};
    }
  }

 private:
  bool has_tables() const {
    return bias != nullptr || multiplier != nullptr || mod.table != nullptr;
  }

  void AddTables(const Place& place, int64_t r, Vector* row) const {
    const RowPlaces places = distances.Find(place, r);
    if (multiplier != nullptr) {
      const float* const factors = places.Read(multiplier);
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        row[v] *= Load(factors + v * kLanes);
      }
    }
    if (bias != nullptr) {
      const float* const biases = places.Read(bias);
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        row[v] += Load(biases + v * kLanes);
      }
    }
    if (mod.table != nullptr) mod.Add(places, place.query + r, row);
  }

  // Through a_ij M[d].
  void MultiplyGradient(const RowPlaces& places, float* sums,
                        const RowChange& row) const {
    if (sums != nullptr) {
      Vector terms[kTileVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        Vector product = Load(row.products + v * kLanes) * All(problem->scale);
        if (problem->rectified) product = Max(Vector{}, product);
        terms[v] = row.change[v] * product;
      }
      places.Add(terms, sums);
    }
    const float* const factors = places.Read(multiplier);
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row.change[v] *= Load(factors + v * kLanes);
    }
  }

  // Keys that the query does not see.
  void Hide(const Place& place, int64_t r, Vector* row) const {
    const Problem& p = *problem;
    const int64_t token = p.keys - p.queries + place.query + r;
    const int64_t last = p.causal ? token - place.key + 1 : place.num_keys;
    const int64_t end = Least(last, place.num_keys);
    const int64_t begin =
        first == nullptr ? 0 : first[place.query + r] - place.key;
    if (end >= kTile && begin <= 0) return;
    const Integers ends = static_cast<int32_t>(end) - Integers{};
    const Integers begins = static_cast<int32_t>(begin) - Integers{};
    Integers lane;
    for (int i = 0; i < kLanes; ++i) lane[i] = i;
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      const Integers key = lane + v * kLanes;
      row[v] = (key < ends) & (key >= begins) ? row[v] : All(kHidden);
    }
  }
};

void HideKeys(const Problem& p, const uint8_t* real, float* hidden) {
  for (int64_t j = 0; j < Tokens(p); ++j) {
    hidden[j] = j < p.keys && real[j] != 0 ? 0 : kHidden;
  }
}

Hook MakeHook(const Call& call, const HookRoom& room, int64_t batch,
              int64_t head) {
  const Problem& p = call.problem;
  const Facts& facts = call.facts;
  Hook hook = {};
  hook.problem = &p;
  hook.scale = p.scale * kLog2E;
  hook.near =
      NearDistances({&call, batch, head, head / (p.heads / p.key_heads)});
  hook.distances = MakeDistances(call, room.distances, batch);
  if (p.biased) {
    SpreadTable(p, TableOf(call.inputs[kBias], head), kLog2E, room.bias);
    hook.bias = room.bias;
  }
  if (p.multiplied) {
    SpreadTable(p, TableOf(call.inputs[kMultiplier], head), 1, room.multiplier);
    hook.multiplier = room.multiplier;
  }
  if (HasMod(p)) hook.mod = MakeHeadMod(call, room.mod, batch, head);
  if (p.padded) {
    HideKeys(p, facts.real_BS + batch * p.keys, room.hidden);
    hook.hidden = room.hidden;
  }
  if (p.bounded) {
    hook.first = facts.first_BHT + batch * facts.first_batch_stride +
                 head * facts.first_head_stride;
  }
  return hook;
}

// `parts` are those of the head, zeros.
TableSums MakeTableSums(const Call& call, const HookRoom& room, float* parts) {
  const Problem& p = call.problem;
  const auto part = [&](Input table) {
    const bool wanted = call.d_inputs[table].data != nullptr;
    return wanted ? parts + PartOffset(p, table) : nullptr;
  };
  TableSums sums = {};
  sums.bias = part(kBias);
  sums.multiplier = part(kMultiplier);
  const bool of_mod = part(kModDistance) != nullptr ||
                      part(kModQuery) != nullptr ||
                      part(kModParameter) != nullptr;
  if (of_mod) sums.mod = MakeModSums(p, room.mod, parts);
  return sums;
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_HOOK_H_
