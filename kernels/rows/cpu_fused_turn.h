#ifndef ORDO_KERNELS_ROWS_CPU_FUSED_TURN_H_
#define ORDO_KERNELS_ROWS_CPU_FUSED_TURN_H_

#include <stdint.h>
#include <string.h>

#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"
#include "kernels/rows/cpu_fused_code.h"

// Rotations; see cpu_fused_body.h.

namespace ordo::kernels::rows {
namespace {

inline char* RowOf(const View& view, Type type, const HeadTokens& part,
                   int64_t token) {
  return static_cast<char*>(view.data) +
         (part.batch * view.batch_stride + part.head * view.head_stride +
          token * view.token_stride) *
             BytesOf(type);
}

struct Pair {
  Vector a;
  Vector b;
};

// The pairs of x at frequencies `place`.
inline Pair LoadPair(const Rotation& r, const void* row, Place place) {
  const int64_t half = r.channels / 2;
  if (!r.interleaved) {
    return {LoadAt(r.type, row, place),
            LoadAt(r.type, row, {half + place.i, place.count})};
  }
  const int64_t low = Least(kLanes, 2 * place.count);
  const int64_t high = 2 * place.count - low;
  const Vector x = LoadAt(r.type, row, {2 * place.i, low});
  const Vector y =
      high == 0 ? Vector{} : LoadAt(r.type, row, {2 * place.i + low, high});
  Integers even;
  for (int i = 0; i < kLanes; ++i) even[i] = 2 * i;
  return {Permuted(x, y, even), Permuted(x, y, even + 1)};
}

inline void StorePair(const Rotation& r, void* row, Place place, Pair pair) {
  const int64_t half = r.channels / 2;
  if (!r.interleaved) {
    StoreAt(r.type, row, place, pair.a);
    StoreAt(r.type, row, {half + place.i, place.count}, pair.b);
    return;
  }
  Integers mixed;
  for (int i = 0; i < kLanes; ++i) mixed[i] = i / 2 + i % 2 * kLanes;
  const Vector x = Permuted(pair.a, pair.b, mixed);
  const Vector y = Permuted(pair.a, pair.b, mixed + kLanes / 2);
  const int64_t low = Least(kLanes, 2 * place.count);
  const int64_t high = 2 * place.count - low;
  StoreAt(r.type, row, {2 * place.i, low}, x);
  if (high > 0) StoreAt(r.type, row, {2 * place.i + low, high}, y);
}

// Rows of real parts and, `half` behind them, imaginary ones: those of y, the
// table and its gradient.
struct Parts {
  Type type;
  int64_t half;
};

inline Pair LoadParts(const Parts& parts, const void* row, Place place) {
  return {LoadAt(parts.type, row, place),
          LoadAt(parts.type, row, {parts.half + place.i, place.count})};
}

inline void StoreParts(const Parts& parts, void* row, Place place, Pair pair) {
  StoreAt(parts.type, row, place, pair.a);
  StoreAt(parts.type, row, {parts.half + place.i, place.count}, pair.b);
}

inline void CopyRest(const Rotation& r, const char* from, char* to) {
  const int64_t bytes = BytesOf(r.type);
  memcpy(to + r.channels * bytes, from + r.channels * bytes,
         (r.width - r.channels) * bytes);
}

template <typename Step>
inline void ForEachToken(const HeadTokens& part, const Step& step) {
  const Range& tokens = part.tokens;
  for (int64_t t = tokens.first; t < tokens.first + tokens.count; ++t) step(t);
}

void Turn(const Rotation& r, const HeadTokens& part) {
  const int64_t half = r.channels / 2;
  ForEachToken(part, [&](int64_t t) {
    const char* const table = RowOf(r.table_BHTR, Type::kFloat32, part, t);
    for (int i = 0; i < r.num_turned; ++i) {
      if (part.head >= r.turned[i].heads) continue;
      const char* const x = RowOf(r.turned[i].x_BHTD, r.type, part, t);
      char* const y = RowOf(r.turned[i].y_BHTD, r.type, part, t);
      ForEachVector(half, [&](Place place) {
        const Pair number = LoadParts({Type::kFloat32, half}, table, place);
        const Pair pair = LoadPair(r, x, place);
        StoreParts({r.type, half}, y, place,
                   {pair.a * number.a - pair.b * number.b,
                    pair.b * number.a + pair.a * number.b});
      });
      CopyRest(r, x, y);
    }
  });
}

void TurnBackward(const Rotation& r, const HeadTokens& part) {
  const int64_t half = r.channels / 2;
  const bool of_table = r.d_table_BHTR.data != nullptr;
  ForEachToken(part, [&](int64_t t) {
    const char* const table = RowOf(r.table_BHTR, Type::kFloat32, part, t);
    char* const d_table =
        of_table ? RowOf(r.d_table_BHTR, Type::kFloat32, part, t) : nullptr;
    for (int i = 0; i < r.num_turned; ++i) {
      const Turned& turned = r.turned[i];
      if (part.head >= turned.heads) continue;
      const char* const d_y = RowOf(turned.d_y_BHTD, r.type, part, t);
      const bool of_x = turned.d_x_BHTD.data != nullptr;
      const char* const x =
          of_table ? RowOf(turned.x_BHTD, r.type, part, t) : nullptr;
      char* const d_x =
          of_x ? RowOf(turned.d_x_BHTD, r.type, part, t) : nullptr;
      ForEachVector(half, [&](Place place) {
        const Pair number = LoadParts({Type::kFloat32, half}, table, place);
        const Pair d = LoadParts({r.type, half}, d_y, place);
        if (of_x) {
          StorePair(r, d_x, place,
                    {d.a * number.a + d.b * number.b,
                     d.b * number.a - d.a * number.b});
        }
        if (!of_table) return;
        const Pair pair = LoadPair(r, x, place);
        Pair sum = {d.a * pair.a + d.b * pair.b, d.b * pair.a - d.a * pair.b};
        if (i > 0) {
          const Pair before = LoadParts({Type::kFloat32, half}, d_table, place);
          sum = {before.a + sum.a, before.b + sum.b};
        }
        StoreParts({Type::kFloat32, half}, d_table, place, sum);
      });
      if (of_x) CopyRest(r, d_y, d_x);
    }
  });
}

}  // namespace
}  // namespace ordo::kernels::rows

#endif  // ORDO_KERNELS_ROWS_CPU_FUSED_TURN_H_
