#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_ROWS_H_

#include <stdint.h>

#include "kernels/attention/cpu_counted_work.h"

// Rows of a tile in the backward pass of cpu_counted.h; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// What a number of z gets from counts between it and the next; and the next.
using Pair __attribute__((vector_size(8), aligned(4), may_alias)) = float;
using IntegerMemory
    __attribute__((vector_size(ORDO_VECTOR_BYTES), aligned(4), may_alias)) =
        int32_t;

// What keys of a row add to the gradient of z, kept until it can be added for
// several rows side by side: a row's additions wait for one another.
struct Additions {
  int64_t rows = 0;
  float* d_z[kSideBySide];
  int32_t low[kSideBySide][kTile];
  float pairs[kSideBySide][2 * kTile];

  void Keep(int v, const Found& found, Vector change) {
    *reinterpret_cast<IntegerMemory*>(low[rows] + v * kLanes) = found.low;
    const Vector next = change * found.part;
    const Vector own = change - next;
    const Integers lane = Lanes();
    const Integers half = lane >> 1;
    const Integers odd = lane & 1;
    float* const to = pairs[rows] + 2 * v * kLanes;
    Store(to, odd != 0 ? Permuted(next, half) : Permuted(own, half));
    Store(to + kLanes, odd != 0 ? Permuted(next, half + kLanes / 2)
                                : Permuted(own, half + kLanes / 2));
  }

  // Ends a row; its d_z.
  void End(float* to) {
    d_z[rows++] = to;
    if (rows == kSideBySide) Add();
  }

  void Add() {
    for (int64_t i = 0; i < kTile; ++i) {
      for (int64_t r = 0; r < rows; ++r) {
        Pair* const to =
            reinterpret_cast<Pair*>(d_z[r] + 2 * int64_t{low[r][i]});
        *to += *reinterpret_cast<const Pair*>(pairs[r] + 2 * i);
      }
    }
    rows = 0;
  }
};

// What of a row of a tile is read and written.
struct Change {
  float lse;
  float delta;
  float* weights;
  // The gradients of weights; on return, of logits.
  Vector* change;

  // Vector v, of what its logits are.
  Vector Of(int v, Vector logits) const {
    const Vector weight = Exp2(logits - lse);
    Store(weights + v * kLanes, weight);
    return change[v] = weight * (change[v] - delta);
  }
};

// A row whose counts are all beyond z's last number, which gets the sum that
// this returns.
float PlainRow(const TileRow& row, const Change& to) {
  const Vector constant = All(row.term.numbers[row.term.last]);
  Vector sum = {};
#pragma GCC unroll 16
  for (int v = 0; v < kTileVectors; ++v) {
    sum += to.Of(v, row.logits[v] + constant);
  }
  return Sum(sum);
}

// What rows carry from tile to tile.
struct Carried {
  // Of what is behind the tile.
  Counter count;
  // Of gates behind the tile, through the counts before; in base 2.
  float* d_count;
  // Null: not wanted.
  Additions* additions;
  Vector* d_slope;
};

// The gradients of what gates are of, over the scale, go to `d_gates`.
void CountedRow(TileRow* row, const Change& to, const Carried& carried,
                Vector* d_gates) {
  Vector d_counts[kTileVectors], rises[kTileVectors];
  Counter count = carried.count;
  for (int v = kTileVectors - 1; v >= 0; --v) {
    const Opening gates = row->OpenGates(v);
    const Counts counts = Count(gates.open, &count);
    const Found found = Find(row->term, counts);
    const Vector change = to.Of(v, row->logits[v] + found.value);
    d_counts[v] = change * found.rise;
    rises[v] = gates.rise;
    if (carried.additions != nullptr) carried.additions->Keep(v, found, change);
    if (carried.d_slope != nullptr) *carried.d_slope += change * counts.Total();
  }
  // The gate of a key counts for all keys before it.
  float sum = *carried.d_count;
  for (int v = 0; v < kTileVectors; ++v) {
    const Vector sums = SumsFromStart(d_counts[v]) + sum;
    sum = sums[kLanes - 1];
    d_gates[v] = sums * rises[v] * kLn2;
  }
  *carried.d_count = sum;
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_ROWS_H_
