#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_

#include <stdint.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// Tables of distances as rows of a tile read them. Where distances are those of
// tokens, tables are spread over the differences of tokens, and a row's
// elements lie side by side. Under position ids they are gathered.

namespace ordo::kernels::attention {
namespace {

constexpr int kTileVectors = kTile / kLanes;

int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Of all keys, in whole tiles.
int64_t Tokens(const Problem& p) {
  return (p.keys + kTile - 1) / kTile * kTile;
}

// The tile of keys and queries that is worked on.
struct Place {
  // First query and key, and how many of each are real tokens of the row.
  int64_t query;
  int64_t num_queries;
  int64_t key;
  int64_t num_keys;
};

// One head of a table [1,H,1,L].
const float* TableOf(const View& table, int64_t head) {
  return static_cast<const float*>(table.data) + head * table.head_stride;
}

// Floats of a table of distances that rows are read from.
int64_t TableLength(const Problem& p) {
  return p.positioned ? p.distances() : SpreadStride(p);
}

// What rows read, times `factor`. Behind the spread table is its last element.
void SpreadTable(const Problem& p, const float* table, float factor,
                 float* out) {
  for (int64_t i = 0; i < TableLength(p); ++i) {
    out[i] = table[p.positioned ? i : PlaceOf(p, i)] * factor;
  }
}

// What a thread has for position ids.
struct DistanceRoom {
  int32_t* places;
  float* gathered;
};

DistanceRoom MakeDistanceRoom(const Problem& p, Arena* arena) {
  DistanceRoom room;
  const int64_t count = p.positioned ? kTile : 0;
  room.places = reinterpret_cast<int32_t*>(arena->Floats(count));
  room.gathered = arena->Floats(count);
  return room;
}

// Where the keys of a row of a tile lie in what is as long as TableLength.
struct RowPlaces {
  // The first key's; the others follow it.
  int64_t begin;
  // Null unless positioned: one for each key.
  const int32_t* places;
  float* gathered;

  // kTile elements, good until the next call.
  const float* Read(const float* table) const {
    if (places == nullptr) return table + begin;
    for (int64_t i = 0; i < kTile; ++i) gathered[i] = table[places[i]];
    return gathered;
  }

  // Adds the row's kTileVectors vectors to a table.
  void Add(const Vector* row, float* table) const {
    if (places == nullptr) {
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        float* const at = table + begin + v * kLanes;
        Store(at, Load(at) + row[v]);
      }
      return;
    }
    for (int v = 0; v < kTileVectors; ++v) {
      for (int i = 0; i < kLanes; ++i) {
        table[places[v * kLanes + i]] += row[v][i];
      }
    }
  }
};

struct Distances {
  const Problem* problem;
  // Position ids of the tokens; null: their numbers.
  const int32_t* ids;
  DistanceRoom room;

  // Of row r of a tile, good until the next call.
  RowPlaces Find(const Place& place, int64_t r) const {
    const Problem& p = *problem;
    const int64_t token = p.keys - p.queries + place.query + r;
    if (ids == nullptr)
      return {place.key - token + p.keys - 1, nullptr, nullptr};
    const int64_t most = p.causal ? 0 : p.reach;
    for (int64_t i = 0; i < kTile; ++i) {
      int64_t distance = 0;
      if (i < place.num_keys) {
        distance = int64_t{ids[place.key + i]} - ids[token];
      }
      distance = distance < -p.reach ? -p.reach : distance;
      room.places[i] = static_cast<int32_t>(Least(distance, most) + p.reach);
    }
    return {0, room.places, room.gathered};
  }
};

Distances MakeDistances(const Call& call, const DistanceRoom& room,
                        int64_t batch) {
  const Problem& p = call.problem;
  return {&p, p.positioned ? call.facts.positions_BS + batch * p.keys : nullptr,
          room};
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_
