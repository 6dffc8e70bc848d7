#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/problem.h"
#include "kernels/common/cpu_rows.h"
#include "kernels/common/cpu_vectors.h"

// Tensors of a problem as rows of whole vectors; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// One head's tokens of a view.
struct Head {
  const View* view;
  int64_t offset;
  Type type;
};

// Where number i of a head lies.
inline char* At(const Head& head, int64_t i) {
  return static_cast<char*>(head.view->data) +
         (head.offset + i) * BytesOf(head.type);
}

// Where a token's row lies.
inline char* RowAt(const Head& head, int64_t token) {
  return At(head, token * head.view->token_stride);
}

inline float Read(const Head& head, int64_t i) {
  if (head.type == Type::kFloat32) {
    return reinterpret_cast<const float*>(At(head, 0))[i];
  }
  const uint16_t half = reinterpret_cast<const uint16_t*>(At(head, 0))[i];
  const uint32_t bits = uint32_t{half} << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Rounds to the nearest, ties to even.
inline uint16_t ToBfloat16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return (bits >> 16) | 0x40;
  return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}

inline void Write(const Head& head, int64_t i, float x) {
  if (head.type == Type::kFloat32) {
    reinterpret_cast<float*>(At(head, 0))[i] = x;
  } else {
    reinterpret_cast<uint16_t*>(At(head, 0))[i] = ToBfloat16(x);
  }
}

// Whether rows of a view may be computed on as they lie.
inline bool IsDirect(Type type, int64_t width) {
  return type == Type::kFloat32 && width % kLanes == 0;
}

// `count` tokens of a head as rows of whole vectors: those of the view itself
// where they are, else a copy in `room`.
inline Rows Widened(const Head& head, int64_t count, int64_t width,
                    float* room) {
  const int64_t stride = head.view->token_stride;
  if (IsDirect(head.type, width)) {
    return {static_cast<float*>(head.view->data) + head.offset, stride};
  }
  const int64_t padded = Padded(width);
  for (int64_t t = 0; t < count; ++t) {
    ReadRow(head.type, RowAt(head, t), width, room + t * padded);
  }
  return {room, padded};
}

inline void WriteRows(const Rows& rows, int64_t count, int64_t width,
                      const Head& head) {
  for (int64_t t = 0; t < count; ++t) {
    WriteRow(head.type, rows.From(t).data, width, RowAt(head, t));
  }
}

// kLanes rows of a vector become its columns: out[r] has element r of each.
inline void TransposeBlock(Vector* rows) {
  const Integers lane = Lanes();
#pragma GCC unroll 4
  for (int step = 1; step < kLanes; step *= 2) {
    const Integers upper = lane & step;
    const Integers first = upper == 0 ? lane : lane - step + kLanes;
    const Integers second = upper == 0 ? lane + step : lane + kLanes;
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & step) != 0) continue;
      const Vector a = rows[i], b = rows[i + step];
      rows[i] = Permuted(a, b, first);
      rows[i + step] = Permuted(a, b, second);
    }
  }
}

// [count, width] to [width, kTile], zeros behind `count`; rows have whole
// vectors.
inline void Transpose(const Rows& rows, int64_t count, int64_t width,
                      float* out) {
  for (int64_t first = 0; first < kTile; first += kLanes) {
    for (int64_t d = 0; d < width; d += kLanes) {
      Vector block[kLanes];
#pragma GCC unroll 16
      for (int64_t r = 0; r < kLanes; ++r) {
        block[r] =
            first + r < count ? Load(rows.From(first + r).data + d) : Vector{};
      }
      TransposeBlock(block);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kLanes; ++i) {
        if (d + i < width) Store(out + (d + i) * kTile + first, block[i]);
      }
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_
