#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_RAMP_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_RAMP_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// f(t[d] r_i), linear in pieces. The numbers of a row of a tile mostly lie in
// one piece or two: the least and the largest element of t that the row meets
// say which, so that an element costs a product and a sum.

namespace ordo::kernels::attention {
namespace {

// What a thread has for it: tables, and a vector of sums for each piece.
struct RampRoom {
  float* table;
  float* least;
  float* largest;
  float* slope;
  float* offset;
  float* slope_sums;
  float* offset_sums;
  // That the row before began with.
  int32_t* piece;
};

RampRoom MakeRampRoom(const Problem& p, Arena* arena) {
  RampRoom room;
  const int64_t length = p.pieces > 0 ? SpreadStride(p) : 0;
  room.table = arena->Floats(length);
  room.least = arena->Floats(length);
  room.largest = arena->Floats(length);
  room.slope = arena->Floats(p.pieces);
  room.offset = arena->Floats(p.pieces);
  room.slope_sums = arena->Floats(p.pieces * kLanes);
  room.offset_sums = arena->Floats(p.pieces * kLanes);
  room.piece = reinterpret_cast<int32_t*>(arena->Floats(p.pieces > 0 ? 1 : 0));
  return room;
}

// Sums of gradients. Null `slope`: none is wanted.
struct RampSums {
  // For each piece a vector, whose lanes are to be added up.
  float* slope;
  float* offset;
  // Spread.
  float* table;
  // Of the queries.
  float* rows;
};

struct Ramp {
  int64_t pieces;
  const float* knots;
  // t, spread; null: there is no ramp.
  const float* table;
  // Of kTile elements of t from each on.
  const float* least;
  const float* largest;
  // r of the row of the batch.
  const float* rows;
  // Of the head; and times log2(e).
  const float* slope;
  const float* slope_2;
  const float* offset_2;
  // Where the next row's search begins.
  int32_t* piece;

  // Adds f, in base 2, to kTileVectors vectors.
  void Add(const RowPlaces& places, int64_t query, Vector* row) const {
    const Numbers x = Find(places, query);
    if (x.low == x.high) {
      const Vector slopes = All(slope_2[x.low] * x.factor);
      const Vector offsets = All(offset_2[x.low]);
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        row[v] += x.Table(v) * slopes + offsets;
      }
      return;
    }
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      row[v] += x.At(v) * Choose(slope_2, x, v) + Choose(offset_2, x, v);
    }
  }

  // From the gradient of the logits.
  void Differentiate(const RowPlaces& places, int64_t query,
                     const RampSums& sums, const Vector* change) const {
    const Numbers x = Find(places, query);
    Vector d_table[kTileVectors];
    Vector d_row = {};
    if (x.low == x.high) {
      Vector whole = {};
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        whole += change[v];
        d_row += change[v] * x.Table(v);
        d_table[v] = change[v] * All(slope[x.low] * x.factor);
      }
      AddSums(sums, x.low, d_row * All(x.factor), whole);
      d_row *= All(slope[x.low]);
    } else {
      for (int64_t piece = x.low; piece <= x.high; ++piece) {
        AddPiece(x, piece, sums, change);
      }
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        const Vector d_x = change[v] * Choose(slope, x, v);
        d_row += d_x * x.Table(v);
        d_table[v] = d_x * All(x.factor);
      }
    }
    places.Add(d_table, sums.table);
    sums.rows[query] += Sum(d_row);
  }

 private:
  // What f is of in a row of a tile, t times a factor, and the pieces that it
  // lies in.
  struct Numbers {
    const float* t;
    float factor;
    int64_t low;
    int64_t high;

    Vector Table(int v) const { return Load(t + v * kLanes); }
    Vector At(int v) const { return Table(v) * All(factor); }
  };

  Numbers Find(const RowPlaces& places, int64_t query) const {
    Numbers x = {places.Read(table), rows[query], *piece, 0};
    float low, high;
    if (places.places == nullptr) {
      low = least[places.begin] * x.factor;
      high = largest[places.begin] * x.factor;
    } else {
      low = high = x.t[0] * x.factor;
      for (int64_t i = 1; i < kTile; ++i) {
        const float number = x.t[i] * x.factor;
        low = number < low ? number : low;
        high = number > high ? number : high;
      }
    }
    if (low > high) {
      const float swapped = low;
      low = high;
      high = swapped;
    }
    while (x.low > 0 && !(knots[x.low - 1] < low)) --x.low;
    while (x.low < pieces - 1 && knots[x.low] < low) ++x.low;
    *piece = static_cast<int32_t>(x.low);
    x.high = x.low;
    while (x.high < pieces - 1 && knots[x.high] < high) ++x.high;
    return x;
  }

  // Elements of a table of pieces for vector v.
  Vector Choose(const float* of_pieces, const Numbers& x, int v) const {
    Vector chosen = All(of_pieces[x.low]);
    for (int64_t i = x.low; i < x.high; ++i) {
      chosen = x.At(v) > All(knots[i]) ? All(of_pieces[i + 1]) : chosen;
    }
    return chosen;
  }

  static void AddSums(const RampSums& sums, int64_t piece, Vector slope,
                      Vector offset) {
    float* const to_slope = sums.slope + piece * kLanes;
    float* const to_offset = sums.offset + piece * kLanes;
    Store(to_slope, Load(to_slope) + slope);
    Store(to_offset, Load(to_offset) + offset);
  }

  void AddPiece(const Numbers& x, int64_t piece, const RampSums& sums,
                const Vector* change) const {
    const Vector begin = All(piece > x.low ? knots[piece - 1] : -INFINITY);
    const Vector end = All(piece < x.high ? knots[piece] : INFINITY);
    Vector whole = {}, moment = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      const Vector at = x.At(v);
      const Vector inside = (at > begin) & (at <= end) ? change[v] : Vector{};
      whole += inside;
      moment += inside * at;
    }
    AddSums(sums, piece, moment, whole);
  }
};

Ramp MakeRamp(const Call& call, const RampRoom& room, int64_t batch,
              int64_t head) {
  const Problem& p = call.problem;
  const View& rows = call.inputs[kRampRow];
  Ramp ramp = {};
  ramp.pieces = p.pieces;
  ramp.knots = call.facts.knots;
  SpreadTable(p, TableOf(call.inputs[kRamp], 0), 1, room.table);
  ramp.table = room.table;
  ramp.rows = static_cast<const float*>(rows.data) + batch * rows.batch_stride;
  ramp.slope = TableOf(call.inputs[kSlope], head);
  const float* const offset = TableOf(call.inputs[kOffset], head);
  for (int64_t i = 0; i < p.pieces; ++i) {
    room.slope[i] = ramp.slope[i] * kLog2E;
    room.offset[i] = offset[i] * kLog2E;
  }
  ramp.slope_2 = room.slope;
  ramp.offset_2 = room.offset;
  *room.piece = 0;
  ramp.piece = room.piece;
  const int64_t length = SpreadStride(p);
  memcpy(room.least, room.table, length * 4);
  memcpy(room.largest, room.table, length * 4);
  for (int64_t step = 1; step < kTile; step *= 2) {
    for (int64_t i = 0; i + step < length; ++i) {
      const float low = room.least[i + step], high = room.largest[i + step];
      room.least[i] = low < room.least[i] ? low : room.least[i];
      room.largest[i] = high > room.largest[i] ? high : room.largest[i];
    }
  }
  ramp.least = room.least;
  ramp.largest = room.largest;
  return ramp;
}

// `parts` are those of the head.
RampSums MakeRampSums(const Problem& p, const RampRoom& room, float* parts) {
  memset(room.slope_sums, 0, p.pieces * kLanes * 4);
  memset(room.offset_sums, 0, p.pieces * kLanes * 4);
  return {room.slope_sums, room.offset_sums, parts + PartOffset(p, kRamp),
          parts + PartOffset(p, kRampRow)};
}

// Fills in the head's parts of slopes and offsets.
void FinishRampSums(const Problem& p, const RampSums& sums, float* parts) {
  if (sums.slope == nullptr) return;
  for (int64_t i = 0; i < p.pieces; ++i) {
    parts[PartOffset(p, kSlope) + i] = Sum(Load(sums.slope + i * kLanes));
    parts[PartOffset(p, kOffset) + i] = Sum(Load(sums.offset + i * kLanes));
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_RAMP_H_
