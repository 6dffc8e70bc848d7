#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_

#include <stdint.h>
#include <string.h>

#include "kernels/attention/cpu_tiled_code.h"
#include "kernels/attention/problem.h"
#include "kernels/common/cpu_vectors.h"

// Tensors of a problem as rows of whole vectors; see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

int64_t Padded(int64_t width) { return (width + kLanes - 1) / kLanes * kLanes; }

// Hands out parts of the workspace; counts bytes where there is none.
class Arena {
 public:
  explicit Arena(void* base) : base_(static_cast<char*>(base)) {}
  float* Floats(int64_t count) {
    float* const result =
        base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + used_);
    used_ += (count * 4 + 63) / 64 * 64;
    return result;
  }
  int64_t used() const { return used_; }

 private:
  char* base_;
  int64_t used_ = 0;
};

// One head's tokens of a view.
struct Head {
  const View* view;
  int64_t offset;
  Type type;
};

float Read(const Head& head, int64_t i) {
  if (head.type == Type::kFloat32) {
    return static_cast<const float*>(head.view->data)[head.offset + i];
  }
  const uint32_t bits =
      uint32_t{static_cast<const uint16_t*>(head.view->data)[head.offset + i]}
      << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

// Rounds to the nearest, ties to even.
uint16_t ToBfloat16(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) return (bits >> 16) | 0x40;
  return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
}

void Write(const Head& head, int64_t i, float x) {
  if (head.type == Type::kFloat32) {
    static_cast<float*>(head.view->data)[head.offset + i] = x;
  } else {
    static_cast<uint16_t*>(head.view->data)[head.offset + i] = ToBfloat16(x);
  }
}

// Whether rows of a view may be computed on as they lie.
bool IsDirect(Type type, int64_t width) {
  return type == Type::kFloat32 && width % kLanes == 0;
}

// `count` tokens of a head as rows of whole vectors: those of the view itself
// where they are, else a copy in `room`.
Rows Widened(const Head& head, int64_t count, int64_t width, float* room) {
  const int64_t stride = head.view->token_stride;
  if (IsDirect(head.type, width)) {
    return {static_cast<float*>(head.view->data) + head.offset, stride};
  }
  const int64_t padded = Padded(width);
  for (int64_t t = 0; t < count; ++t) {
    float* const row = room + t * padded;
    for (int64_t d = 0; d < width; ++d) row[d] = Read(head, t * stride + d);
    for (int64_t d = width; d < padded; ++d) row[d] = 0;
  }
  return {room, padded};
}

void WriteRows(const Rows& rows, int64_t count, int64_t width,
               const Head& head) {
  for (int64_t t = 0; t < count; ++t) {
    const int64_t at = t * head.view->token_stride;
    for (int64_t d = 0; d < width; ++d) {
      Write(head, at + d, rows.data[t * rows.row + d]);
    }
  }
}

// [count, width] to [width, kTile], zeros behind `count`.
void Transpose(const Rows& rows, int64_t count, int64_t width, float* out) {
  constexpr int64_t kStep = 16;
  for (int64_t first = 0; first < kTile; first += kStep) {
    for (int64_t d = 0; d < width; ++d) {
      for (int64_t r = first; r < first + kStep; ++r) {
        out[d * kTile + r] = r < count ? rows.data[r * rows.row + d] : 0;
      }
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_ROWS_H_
