#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILE_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/problem.h"
#include "kernels/common/cuda_device.h"

// Tiles of bf16 in shared memory: how they come there, products of them, and
// how results go back.
//
// Legend: a tile of W columns has rows of W + 8 elements (kGap), so that the
// eight rows that a load of matrices touches at once lie in different banks.
// g = lane / 4, t = lane % 4. A fragment x[n][e] of a warp's 16 rows is
// element (g + 8 (e / 2), 8 n + 2 t + e % 2).

namespace ordo::kernels::attention {

inline constexpr int kGap = 8;

// Columns [begin, end) of a tile are those of one head of a tensor.
struct Part {
  uint16_t* data;
  int64_t stride;
  int begin;
  int end;
  // Whether all rows begin at multiples of 16 bytes.
  bool vectors;
};

// The tensors that lie side by side in a tile. Columns that are nobody's are
// zeros, and so are those of a tensor without data.
struct Columns {
  Part parts[kMaxValues];
};

// Rows of a head that exist.
struct Tokens {
  int64_t first;
  int64_t end;
};

struct HeadOf {
  int64_t batch;
  int64_t head;
};

ORDO_DEVICE Part MakePart(const View& view, const HeadOf& of, int begin,
                          int end) {
  Part part = {static_cast<uint16_t*>(view.data), view.token_stride, begin, end,
               false};
  if (part.data == nullptr) return part;
  part.data += of.batch * view.batch_stride + of.head * view.head_stride;
  part.vectors = reinterpret_cast<uintptr_t>(part.data) % 16 == 0 &&
                 view.token_stride % 8 == 0;
  return part;
}

ORDO_DEVICE Columns OneTensor(const View& view, const HeadOf& of,
                              int64_t width) {
  Columns columns = {};
  columns.parts[0] = MakePart(view, of, 0, static_cast<int>(width));
  return columns;
}

// Widths are multiples of 8, so eight columns belong together.
ORDO_DEVICE Part PartAt(const Columns& columns, int column) {
  Part found = {nullptr, 0, 0, 0, true};
  ORDO_UNROLL
  for (int v = 0; v < kMaxValues; ++v) {
    const Part& part = columns.parts[v];
    if (column >= part.begin && column < part.end) found = part;
  }
  return found;
}

// Begins to load kRows rows; see CopyAsync for when they are there.
template <int kRows, int kWidth>
ORDO_DEVICE void LoadTile(const Columns& from, const Tokens& tokens,
                          uint16_t* tile) {
  constexpr int kChunks = kWidth / 8;
  for (int i = device::ThreadId(); i < kRows * kChunks; i += kThreads) {
    const int row = i / kChunks, column = i % kChunks * 8;
    const Part part = PartAt(from, column);
    const bool real = part.data != nullptr && tokens.first + row < tokens.end;
    const uint16_t* const source =
        real ? part.data + (tokens.first + row) * part.stride + column -
                   part.begin
             : part.data;
    uint16_t* const to = tile + row * (kWidth + kGap) + column;
    if (part.vectors || !real) {
      device::CopyAsync(to, source, real);
    } else {
      for (int d = 0; d < 8; ++d) to[d] = source[d];
    }
  }
}

// sums += A B^T for the warp's 16 rows of A, from `a` on, and kRows rows of B,
// both of kWidth columns.
template <int kRows, int kWidth>
ORDO_DEVICE void MultiplyRows(const uint16_t* a, const uint16_t* b,
                              float (&sums)[kRows / 8][4]) {
  constexpr int kPitch = kWidth + kGap;
  const int lane = device::ThreadId() % 32;
  // Matrices of A: upper and lower rows of the first 8 columns, then of the
  // next; of B: first and next 8 columns of 8 rows, then of the next 8 rows.
  const uint16_t* const a_row = a + lane % 16 * kPitch + lane / 16 * 8;
  const uint16_t* const b_row =
      b + (lane / 16 * 8 + lane % 8) * kPitch + lane / 8 % 2 * 8;
  ORDO_UNROLL
  for (int k = 0; k < kWidth; k += 16) {
    uint32_t left[4];
    device::LoadMatrices(a_row + k, left);
    ORDO_UNROLL
    for (int n = 0; n < kRows; n += 16) {
      uint32_t right[4];
      device::LoadMatrices(b_row + n * kPitch + k, right);
      device::MultiplyAdd(left, right, sums[n / 8]);
      device::MultiplyAdd(left, right + 2, sums[n / 8 + 1]);
    }
  }
}

// sums += A B for 16 rows of A, in registers, and kRows rows of B.
template <int kRows, int kWidth>
ORDO_DEVICE void MultiplyColumns(const uint32_t (&a)[kRows / 16][4],
                                 const uint16_t* b,
                                 float (&sums)[kWidth / 8][4]) {
  constexpr int kPitch = kWidth + kGap;
  const int lane = device::ThreadId() % 32;
  // Upper and lower 8 rows of the first 8 columns, then of the next; turned,
  // because pairs go down a column of B.
  const uint16_t* const b_row = b + lane % 16 * kPitch + lane / 16 * 8;
  ORDO_UNROLL
  for (int k = 0; k < kRows; k += 16) {
    ORDO_UNROLL
    for (int n = 0; n < kWidth; n += 16) {
      uint32_t right[4];
      device::LoadTransposed(b_row + k * kPitch + n, right);
      device::MultiplyAdd(a[k / 16], right, sums[n / 8]);
      device::MultiplyAdd(a[k / 16], right + 2, sums[n / 8 + 1]);
    }
  }
}

template <int kCount>
ORDO_DEVICE void Clear(float (&x)[kCount][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kCount; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) x[n][e] = 0;
  }
}

// A fragment, rounded to bf16, as the left side of a product: columns
// 16 k .. 16 k + 15 are those of x[2 k] and x[2 k + 1].
template <int kColumns>
ORDO_DEVICE void Pack(const float (&x)[kColumns / 8][4],
                      uint32_t (&packed)[kColumns / 16][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kColumns / 8; ++n) {
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      packed[n / 2][n % 2 * 2 + half] =
          device::PackBfloat16(x[n][2 * half], x[n][2 * half + 1]);
    }
  }
}

// Writes the warp's rows, of which the lane's two begin at `token`, those that
// exist, times `factors`.
template <int kWidth>
ORDO_DEVICE void StoreRows(const float (&x)[kWidth / 8][4],
                           const float (&factors)[2], const Columns& to,
                           const Tokens& tokens) {
  const int lane = device::ThreadId() % 32;
  ORDO_UNROLL
  for (int n = 0; n < kWidth / 8; ++n) {
    const Part part = PartAt(to, 8 * n);
    if (part.data == nullptr) continue;
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int64_t token = tokens.first + lane / 4 + 8 * half;
      if (token >= tokens.end) continue;
      uint16_t* const at =
          part.data + token * part.stride + 8 * n - part.begin + lane % 4 * 2;
      const uint32_t pair = device::PackBfloat16(
          x[n][2 * half] * factors[half], x[n][2 * half + 1] * factors[half]);
      if (reinterpret_cast<uintptr_t>(at) % 4 == 0) {
        *reinterpret_cast<uint32_t*>(at) = pair;
      } else {
        at[0] = static_cast<uint16_t>(pair);
        at[1] = static_cast<uint16_t>(pair >> 16);
      }
    }
  }
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILE_H_
