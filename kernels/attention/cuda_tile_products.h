#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILE_PRODUCTS_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILE_PRODUCTS_H_

#include <cstdint>

#include "kernels/attention/cuda_tile.h"
#include "kernels/common/cuda_element.h"

// Products of the tiles of cuda_tile.h, and how results go back.

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Of tiles, tensors and packed fragments.
using Element = ORDO_ELEMENT;

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
      Element::MultiplyAdd(left, right, sums[n / 8]);
      Element::MultiplyAdd(left, right + 2, sums[n / 8 + 1]);
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
      Element::MultiplyAdd(a[k / 16], right, sums[n / 8]);
      Element::MultiplyAdd(a[k / 16], right + 2, sums[n / 8 + 1]);
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

// A fragment, rounded, as the left side of a product: columns
// 16 k .. 16 k + 15 are those of x[2 k] and x[2 k + 1].
template <int kColumns>
ORDO_DEVICE void Pack(const float (&x)[kColumns / 8][4],
                      uint32_t (&packed)[kColumns / 16][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kColumns / 8; ++n) {
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      packed[n / 2][n % 2 * 2 + half] =
          Element::Pack(x[n][2 * half], x[n][2 * half + 1]);
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
      const uint32_t pair = Element::Pack(x[n][2 * half] * factors[half],
                                          x[n][2 * half + 1] * factors[half]);
      if (reinterpret_cast<uintptr_t>(at) % 4 == 0) {
        *reinterpret_cast<uint32_t*>(at) = pair;
      } else {
        at[0] = static_cast<uint16_t>(pair);
        at[1] = static_cast<uint16_t>(pair >> 16);
      }
    }
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILE_PRODUCTS_H_
