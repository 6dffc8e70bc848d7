#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_IDS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_IDS_H_

#include <cstdint>

#include "kernels/attention/cuda_tiled_hook.h"

// The gradients of tables of differences of position ids, of cuda_tiled.cu: ids
// may have gaps, repeat and go down, so that pairs of one distance lie anywhere
// in a tile. Keys and queries are sorted by their ids; then the keys at a
// distance from one query after the other are found by going along both once.
// Nothing is added by two threads, and all sums have one order.

namespace ordo::kernels::attention {

// Elements of a row of a tile of fp32, so that the eight rows of a fragment lie
// in different banks.
inline constexpr int kTermsPitch = kCudaTile + 8;
inline constexpr int64_t kTermsElements = kCudaTile * kTermsPitch;

// Ids ascending, those that are kNoId last, and the numbers in the tile of
// those that have them.
struct SortedIds {
  int id[kCudaTile];
  int of[kCudaTile];
};

// Behind the terms of a block.
struct IdOrder {
  SortedIds keys;
  SortedIds queries;
  // Each warp's sums at the farthest distance before the query, and behind it.
  float ends[kThreads / 32][2];
};

ORDO_DEVICE IdOrder* IdOrderOf(float* terms) {
  return reinterpret_cast<IdOrder*>(terms + kTermsElements);
}

// A thread for each: its place is the number of those before it.
ORDO_DEVICE void SortIds(const Extras& extras, IdOrder* order) {
  const int own = device::ThreadId() % kCudaTile;
  const bool of_key = device::ThreadId() < kCudaTile;
  const int* const ids = of_key ? extras.key_id : extras.query_id;
  const int id = ids[own];
  int place = 0;
  for (int i = 0; i < kCudaTile; ++i) {
    place += ids[i] < id || (ids[i] == id && i < own) ? 1 : 0;
  }
  SortedIds& sorted = of_key ? order->keys : order->queries;
  sorted.id[place] = id;
  sorted.of[place] = own;
}

// Of those that have one; 0: there is none.
ORDO_DEVICE int NumIds(const SortedIds& sorted) {
  int count = kCudaTile;
  while (count > 0 && sorted.id[count - 1] == kNoId) --count;
  return count;
}

// The sum of the terms of all keys at one distance from their query.
ORDO_DEVICE float SumAtDistance(const IdOrder& order, const float* terms,
                                int64_t distance) {
  float sum = 0;
  int key = 0;
  for (int i = 0; i < kCudaTile && order.queries.id[i] != kNoId; ++i) {
    const int64_t id = order.queries.id[i] + distance;
    while (key < kCudaTile && order.keys.id[key] < id) ++key;
    for (int k = key; k < kCudaTile && order.keys.id[k] == id; ++k) {
      sum += terms[order.queries.of[i] * kTermsPitch + order.keys.of[k]];
    }
  }
  return sum;
}

// The farthest distances that a table tells apart.
struct Range {
  int64_t bottom;
  int64_t top;
};

// The sums of the terms at distances up to the bottom, and of others from the
// top on, half a row for each thread.
ORDO_DEVICE void SumEnds(const Extras& extras, const float* terms,
                         const Range& range, float (&ends)[2]) {
  const int query = device::ThreadId() / 2;
  if (extras.query_id[query] == kNoId) return;
  for (int i = 0; i < kCudaTile / 2; ++i) {
    const int key = device::ThreadId() % 2 * kCudaTile / 2 + i;
    if (extras.key_id[key] == kNoId) continue;
    const int64_t distance =
        int64_t{extras.key_id[key]} - extras.query_id[query];
    const float term = terms[query * kTermsPitch + key];
    if (distance <= range.bottom || range.top == range.bottom) {
      ends[0] += term;
    } else if (distance >= range.top) {
      ends[1] += term;
    }
  }
}

// Adds a step's terms, which are written but not waited for, to the block's
// part of a table's gradient, whose elements are the table's.
ORDO_DEVICE void AddById(const TiledArguments& arguments, const Extras& extras,
                         TableSums table, float* terms) {
  const Problem& p = arguments.call.problem;
  const int thread = device::ThreadId();
  IdOrder* const order = IdOrderOf(terms);
  SortIds(extras, order);
  // A distance has terms of all warps; and all ids have their places.
  device::SyncThreads();
  const int64_t part =
      (device::BlockZ() * p.heads + device::BlockY()) * arguments.parts +
      device::BlockX();
  float* const sums =
      arguments.d_parts[table] + part * arguments.spread_stride + p.reach;
  const Range range = {-p.reach, p.causal ? 0 : p.reach};
  const int keys = NumIds(order->keys), queries = NumIds(order->queries);
  if (keys > 0 && queries > 0) {
    int64_t first = int64_t{order->keys.id[0]} - order->queries.id[queries - 1];
    int64_t last = int64_t{order->keys.id[keys - 1]} - order->queries.id[0];
    if (first <= range.bottom) first = range.bottom + 1;
    if (last >= range.top) last = range.top - 1;
    // In another step another thread has this element: the barriers below, and
    // that at the step's end, lie between.
    for (int64_t d = first + thread; d <= last; d += kThreads) {
      sums[d] += SumAtDistance(*order, terms, d);
    }
  }
  float ends[2] = {0, 0};
  SumEnds(extras, terms, range, ends);
  ORDO_UNROLL
  for (int end = 0; end < 2; ++end) {
    for (int mask = 16; mask > 0; mask /= 2) {
      ends[end] += device::ShuffleXor(ends[end], mask);
    }
    if (thread % 32 == 0) order->ends[thread / 32][end] = ends[end];
  }
  // All warps' sums are there; and nobody reads terms any more.
  device::SyncThreads();
  // Without a reach both ends are one.
  if (thread >= (range.top == range.bottom ? 1 : 2)) return;
  float sum = 0;
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    sum += order->ends[warp][thread];
  }
  sums[thread == 0 ? range.bottom : range.top] += sum;
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_IDS_H_
