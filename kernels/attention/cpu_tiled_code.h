#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// Between cpu_tiled.cc and what is compiled once for each instruction set.

namespace ordo::kernels::attention {

// Queries and keys of a tile.
inline constexpr int64_t kTile = 64;

struct PairProducts;

// A unit of work.
struct Unit {
  // Row of the batch times G, plus the head of keys; below B G.
  int64_t index;
  // Of RoomBytes, aligned to 64 bytes.
  void* room;
  // The parts of the tables' gradients, [B, H, PartsStride].
  float* parts;
  // Of cpu_pairs_code.h; null elsewhere.
  const PairProducts* products = nullptr;
};

// Tables of distances are spread over the differences j - i of tokens, from
// 1 - S to S - 1, or to 0 if causal. Under position ids their first and last
// elements are repeated, for the keys of a tile beyond them. So many elements
// there are, ...
inline int64_t SpreadLength(const Problem& problem) {
  if (problem.positioned) return problem.distances() + 2 * kTile;
  return problem.causal ? problem.keys : 2 * problem.keys - 1;
}

// ... so many elements lie between the tables of two heads (a tile's first
// query meets keys that only its last one sees, and those behind them in the
// tile of keys), ...
inline int64_t SpreadStride(const Problem& problem) {
  return SpreadLength(problem) + 2 * kTile;
}

// ... and the table's element for element i is this.
inline int64_t PlaceOf(const Problem& problem, int64_t i) {
  const int64_t first =
      problem.positioned ? kTile : problem.keys - 1 - problem.reach;
  const int64_t place = i - first;
  const int64_t last = problem.distances() - 1;
  return place < 0 ? 0 : place > last ? last : place;
}

// Whether an element of the table is that of a distance.
inline bool IsOfDistances(Input table) {
  return table == kBias || table == kMultiplier || table == kModDistance;
}

inline bool IsOfVectors(Input input) {
  return input == kQueryVector || input == kKeyVector || input == kChannel;
}

// Floats of a vector in a part.
inline int64_t PartRow(int64_t width) { return (width + 15) / 16 * 16; }

// Floats of the part of a table's gradient that one head in one row of the
// batch has: spread, or as the table is if it is not of distances; 0 of what is
// no table; of vectors, as they are.
inline int64_t PartLength(const Problem& problem, Input table) {
  const Shape shape = ShapeOf(problem, table);
  if (IsOfVectors(table)) return shape.tokens * PartRow(shape.width);
  if (!IsTable(table) || shape.width == 0) return 0;
  const int64_t length =
      IsOfDistances(table) ? SpreadStride(problem) : shape.width;
  return (length + 15) / 16 * 16;
}

// Where a table's part begins among those of a head, ...
inline int64_t PartOffset(const Problem& problem, Input table) {
  int64_t offset = 0;
  for (int i = 0; i < table; ++i) {
    offset += PartLength(problem, static_cast<Input>(i));
  }
  return offset;
}

// ... and the floats of all of them.
inline int64_t PartsStride(const Problem& problem) {
  return PartOffset(problem, kNumInputs);
}

// The code for one instruction set.
struct TiledCode {
  int64_t (*room_bytes)(const Problem& problem);
  void (*forward)(const Call& call, const Unit& unit);
  void (*backward)(const Call& call, const Unit& unit);
  // The gradients of tables of vectors at place unit.index; after all else.
  // Null: it supports no problem that has them.
  void (*sum_vectors)(const Call& call, const Unit& unit) = nullptr;
};
extern const TiledCode kTiledAvx512;
extern const TiledCode kTiledAvx2;
// For any processor.
extern const TiledCode kTiledBaseline;

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_CODE_H_
