#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_MOD_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_MOD_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/cpu_tiled_distances.h"
#include "kernels/attention/cpu_tiled_math.h"
#include "kernels/attention/cpu_tiled_rows.h"
#include "kernels/common/cpu_vectors.h"

// f(t[d], r_i; theta), by the score mod of the problem. The pairs of a row of a
// tile mostly lie in one piece or two: the least and the largest element of t
// that the row meets say which, so that theta is the same for whole vectors.

namespace ordo::kernels::attention {
namespace {

// What a thread has for it: tables, and a vector of sums for each parameter.
struct ModRoom {
  float* table;
  float* least;
  float* largest;
  float* sums;
  // The piece that the row before began with.
  int32_t* piece;
};

ModRoom MakeModRoom(const Problem& p, Arena* arena) {
  ModRoom room;
  const int64_t length = HasMod(p) ? SpreadStride(p) : 0;
  room.table = arena->Floats(length);
  room.least = arena->Floats(length);
  room.largest = arena->Floats(length);
  room.sums = arena->Floats(ParametersOf(p) * kLanes);
  room.piece = reinterpret_cast<int32_t*>(arena->Floats(HasMod(p) ? 1 : 0));
  return room;
}

// Sums of gradients. Null `theta`: none is wanted.
struct ModSums {
  // For each parameter a vector, whose lanes are to be added up.
  float* theta;
  // Spread.
  float* table;
  // Of the queries.
  float* rows;
};

// The problem's mod for one head.
struct HeadMod {
  ScoreMod mod;
  int64_t pieces;
  const float* knots;
  // t, spread; null: there is no mod.
  const float* table;
  // Of kTile elements of t from each on.
  const float* least;
  const float* largest;
  // r of the row of the batch.
  const float* rows;
  const float* theta;
  // Where the next row's search begins.
  int32_t* piece;

  // Adds f, in base 2, to kTileVectors vectors.
  void Add(const RowPlaces& places, int64_t query, Vector* row) const {
    const Numbers x = Find(places, query);
    WithMod(mod, [&](auto of) { AddOf<decltype(of)>(x, row); });
  }

  // From the gradient of the logits.
  void Differentiate(const RowPlaces& places, int64_t query,
                     const ModSums& sums, const Vector* change) const {
    const Numbers x = Find(places, query);
    WithMod(mod, [&](auto of) {
      using Mod = decltype(of);
      if (x.low < x.high) {
        DifferentiatePieces<Mod>(x, places, sums, change);
      } else {
        DifferentiatePiece<Mod>(x, places, sums, change);
      }
    });
  }

 private:
  // What f is of in a row of a tile, and the pieces that it lies in.
  struct Numbers {
    int64_t query;
    const float* t;
    float r;
    int64_t low;
    int64_t high;

    ModPair<Vector> Pair(int v) const { return {Load(t + v * kLanes), All(r)}; }
    Vector At(int v) const { return Load(t + v * kLanes) * All(r); }
  };

  Numbers Find(const RowPlaces& places, int64_t query) const {
    Numbers x = {query, places.Read(table), rows[query], *piece, 0};
    if (pieces == 1) return x;
    float low, high;
    if (places.places == nullptr) {
      low = least[places.begin] * x.r;
      high = largest[places.begin] * x.r;
    } else {
      low = high = x.t[0] * x.r;
      for (int64_t i = 1; i < kTile; ++i) {
        const float number = x.t[i] * x.r;
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

  // Theta of a piece.
  template <int kParameters>
  void LoadTheta(int64_t at, Vector (&chosen)[kParameters]) const {
#pragma GCC unroll 16
    for (int i = 0; i < kParameters; ++i) {
      chosen[i] = All(theta[i * pieces + at]);
    }
  }

  // Theta of the pieces of vector v.
  template <int kParameters>
  void Choose(const Numbers& x, int v, Vector (&chosen)[kParameters]) const {
    LoadTheta(x.low, chosen);
    for (int64_t piece = x.low; piece < x.high; ++piece) {
      const Integers beyond = x.At(v) > All(knots[piece]);
#pragma GCC unroll 16
      for (int i = 0; i < kParameters; ++i) {
        chosen[i] = beyond ? All(theta[i * pieces + piece + 1]) : chosen[i];
      }
    }
  }

  template <typename Mod>
  void AddOf(const Numbers& x, Vector* row) const {
    Vector chosen[Mod::kParameters];
    LoadTheta(x.low, chosen);
    if (x.low >= x.high) {
#pragma GCC unroll 16
      for (int v = 0; v < kTileVectors; ++v) {
        row[v] += Mod::template Value<LaneMath>(x.Pair(v), chosen) * kLog2E;
      }
      return;
    }
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      Choose(x, v, chosen);
      row[v] += Mod::template Value<LaneMath>(x.Pair(v), chosen) * kLog2E;
    }
  }

  // Where the row lies in one piece.
  template <typename Mod>
  void DifferentiatePiece(const Numbers& x, const RowPlaces& places,
                          const ModSums& sums, const Vector* change) const {
    Vector chosen[Mod::kParameters];
    LoadTheta(x.low, chosen);
    Vector d_theta[Mod::kParameters] = {};
    Vector d_table[kTileVectors];
    Vector d_row = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      const auto gradient = Mod::template Gradient<LaneMath>(x.Pair(v), chosen);
      d_table[v] = change[v] * gradient.t;
      d_row += change[v] * gradient.r;
#pragma GCC unroll 16
      for (int i = 0; i < Mod::kParameters; ++i) {
        d_theta[i] += change[v] * gradient.theta[i];
      }
    }
    places.Add(d_table, sums.table);
    sums.rows[x.query] += Sum(d_row);
    AddSums(x.low, d_theta, sums.theta);
  }

  template <typename Mod>
  void DifferentiatePieces(const Numbers& x, const RowPlaces& places,
                           const ModSums& sums, const Vector* change) const {
    Vector terms[Mod::kParameters][kTileVectors];
    Vector d_table[kTileVectors];
    Vector d_row = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      Vector chosen[Mod::kParameters];
      Choose(x, v, chosen);
      const auto gradient = Mod::template Gradient<LaneMath>(x.Pair(v), chosen);
      d_table[v] = change[v] * gradient.t;
      d_row += change[v] * gradient.r;
#pragma GCC unroll 16
      for (int i = 0; i < Mod::kParameters; ++i) {
        terms[i][v] = change[v] * gradient.theta[i];
      }
    }
    places.Add(d_table, sums.table);
    sums.rows[x.query] += Sum(d_row);
    for (int64_t piece = x.low; piece <= x.high; ++piece) {
      AddPiece(x, piece, terms, sums.theta);
    }
  }

  // Adds the terms that lie in a piece.
  template <int kParameters>
  void AddPiece(const Numbers& x, int64_t piece,
                const Vector (&terms)[kParameters][kTileVectors],
                float* sums) const {
    const Vector begin = All(piece > x.low ? knots[piece - 1] : -INFINITY);
    const Vector end = All(piece < x.high ? knots[piece] : INFINITY);
    Vector inside[kParameters] = {};
#pragma GCC unroll 16
    for (int v = 0; v < kTileVectors; ++v) {
      const Vector at = x.At(v);
      const Integers is_inside = (at > begin) & (at <= end);
#pragma GCC unroll 16
      for (int i = 0; i < kParameters; ++i) {
        inside[i] += is_inside ? terms[i][v] : Vector{};
      }
    }
    AddSums(piece, inside, sums);
  }

  template <int kParameters>
  void AddSums(int64_t piece, const Vector (&terms)[kParameters],
               float* sums) const {
#pragma GCC unroll 16
    for (int i = 0; i < kParameters; ++i) {
      float* const to = sums + (i * pieces + piece) * kLanes;
      Store(to, Load(to) + terms[i]);
    }
  }
};

HeadMod MakeHeadMod(const Call& call, const ModRoom& room, int64_t batch,
                    int64_t head) {
  const Problem& p = call.problem;
  const View& rows = call.inputs[kModQuery];
  HeadMod mod = {};
  mod.mod = p.mod;
  mod.pieces = p.pieces;
  mod.knots = call.facts.knots;
  SpreadTable(p, TableOf(call.inputs[kModDistance], 0), 1, room.table);
  mod.table = room.table;
  mod.rows = static_cast<const float*>(rows.data) + batch * rows.batch_stride;
  mod.theta = TableOf(call.inputs[kModParameter], head);
  *room.piece = 0;
  mod.piece = room.piece;
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
  mod.least = room.least;
  mod.largest = room.largest;
  return mod;
}

// `parts` are those of the head.
ModSums MakeModSums(const Problem& p, const ModRoom& room, float* parts) {
  memset(room.sums, 0, ParametersOf(p) * kLanes * 4);
  return {room.sums, parts + PartOffset(p, kModDistance),
          parts + PartOffset(p, kModQuery)};
}

// Fills in the head's part of theta.
void FinishModSums(const Problem& p, const ModSums& sums, float* parts) {
  if (sums.theta == nullptr) return;
  float* const part = parts + PartOffset(p, kModParameter);
  for (int64_t i = 0; i < ParametersOf(p); ++i) {
    part[i] = Sum(Load(sums.theta + i * kLanes));
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_MOD_H_
