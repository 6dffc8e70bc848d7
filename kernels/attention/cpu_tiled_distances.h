#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_

#include <stdint.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// Tables of distances as rows of a tile read them: spread, so that a row's
// elements lie side by side. Under position ids those of keys whose ids do not
// count up are gathered.

namespace ordo::kernels::attention {
namespace {

constexpr int kTileVectors = kTile / kLanes;

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

// What rows read, times `factor`: SpreadStride elements.
void SpreadTable(const Problem& p, const float* table, float factor,
                 float* out) {
  for (int64_t i = 0; i < SpreadStride(p); ++i) {
    out[i] = table[PlaceOf(p, i)] * factor;
  }
}

// What a thread has for position ids.
struct DistanceRoom {
  // Of the tokens, and of those behind them in the last tile.
  int32_t* ids;
  // Whether the ids of a tile's keys count up.
  int32_t* counts_up;
  int32_t* places;
  float* gathered;
};

DistanceRoom MakeDistanceRoom(const Problem& p, Arena* arena) {
  DistanceRoom room;
  const int64_t count = p.positioned ? kTile : 0;
  const int64_t tokens = p.positioned ? Tokens(p) : 0;
  room.ids = reinterpret_cast<int32_t*>(arena->Floats(tokens));
  room.counts_up = reinterpret_cast<int32_t*>(arena->Floats(tokens / kTile));
  room.places = reinterpret_cast<int32_t*>(arena->Floats(count));
  room.gathered = arena->Floats(count);
  return room;
}

// Where the keys of a row of a tile lie in what is spread.
struct RowPlaces {
  // The first key's; the others follow it.
  int64_t begin;
  // If they do not: where each lies from `begin` on.
  const int32_t* places;
  float* gathered;

  // kTile elements, good until the next call.
  const float* Read(const float* table) const {
    if (places == nullptr) return table + begin;
    for (int64_t i = 0; i < kTile; ++i) gathered[i] = table[begin + places[i]];
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
        table[begin + places[v * kLanes + i]] += row[v][i];
      }
    }
  }
};

struct Distances {
  const Problem* problem;
  DistanceRoom room;

  // Of row r of a tile, good until the next call.
  RowPlaces Find(const Place& place, int64_t r) const {
    const Problem& p = *problem;
    const int64_t token = p.keys - p.queries + place.query + r;
    if (!p.positioned) {
      return {place.key - token + p.keys - 1, nullptr, nullptr};
    }
    const int64_t first =
        int64_t{room.ids[place.key]} - room.ids[token] + p.reach;
    if (room.counts_up[place.key / kTile] != 0) {
      // Beyond the table all elements of a tile are the same.
      const int64_t bounded = first < -kTile ? -kTile : first;
      return {Least(bounded, p.distances()) + kTile, nullptr, nullptr};
    }
    FindEach(place.key, room.ids[token]);
    return {kTile, room.places, room.gathered};
  }

 private:
  // In a table that is not spread. Ids that are more than 2^31 apart are of
  // padding: anything within the table does for them.
  void FindEach(int64_t key, int32_t id) const {
    const uint32_t reach = static_cast<uint32_t>(problem->reach);
    const int32_t last = static_cast<int32_t>(problem->distances() - 1);
    for (int64_t i = 0; i < kTile; ++i) {
      const uint32_t distance =
          static_cast<uint32_t>(room.ids[key + i]) - static_cast<uint32_t>(id);
      const int32_t place = static_cast<int32_t>(distance + reach);
      const int32_t bounded = place < 0 ? 0 : place;
      room.places[i] = bounded < last ? bounded : last;
    }
  }
};

Distances MakeDistances(const Call& call, const DistanceRoom& room,
                        int64_t batch) {
  const Problem& p = call.problem;
  if (!p.positioned) return {&p, room};
  const int32_t* const ids = call.facts.positions_BS + batch * p.keys;
  for (int64_t key = 0; key < p.keys; key += kTile) {
    const int64_t end = Least(key + kTile, p.keys);
    int32_t counts_up = 1;
    for (int64_t j = key + 1; j < end; ++j) {
      if (int64_t{ids[j]} - ids[j - 1] != 1) counts_up = 0;
    }
    room.counts_up[key / kTile] = counts_up;
  }
  for (int64_t j = 0; j < Tokens(p); ++j) {
    room.ids[j] = ids[Least(j, p.keys - 1)];
  }
  return {&p, room};
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_DISTANCES_H_
