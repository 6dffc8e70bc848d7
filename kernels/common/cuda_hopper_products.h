#ifndef ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_
#define ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_

#include <cstdint>
#include <utility>

#include "kernels/common/cuda_element.h"
#include "kernels/common/cuda_hopper.h"

#ifndef ORDO_CUDA_EMULATED
#include "cute/arch/mma_sm90_gmma.hpp"
#endif

// Products of a group of four warps: sums of 64 rows, of which warp w has those
// from 16 w on, as fragments: of lane 4 g + t, sums[n][e] is element
// (16 w + g + 8 (e / 2), 8 n + 2 t + e % 2). They run on their own: between
// their begin and WaitForProducts nobody touches the sums, operands in
// registers, and tiles.

namespace ordo::kernels {

// An operand in a tile of cuda_box.h, which the product reads from `tile` on,
// at a row that is a multiple of 8. The bits are written here and not by CuTe's
// GmmaDescriptor, whose headers need a CUDA toolkit, so that the emulated
// device reads what a GPU will.
//
// Of rows of 16 neighbouring columns each, the product's inner axis; `column`,
// a multiple of 16, is the first.
ORDO_DEVICE uint64_t AlongRows(const void* tile, int column) {
  return uint64_t{(device::SharedAddress(tile) + 2 * column) & 0x3FFFF} >> 4 |
         uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

// Turned: of 16 rows each, the product's inner axis, and all columns; where
// they are more than a tile has, the next tile begins `tile_bytes` later.
ORDO_DEVICE uint64_t AlongColumns(const void* tile, int64_t tile_bytes) {
  return uint64_t{device::SharedAddress(tile) & 0x3FFFF} >> 4 |
         static_cast<uint64_t>(tile_bytes >> 4) << 16 |
         uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

}  // namespace ordo::kernels

#ifndef ORDO_CUDA_EMULATED

namespace ordo::kernels::device {

// Registers that were written are seen by the products that begin next.
ORDO_DEVICE void BeginProducts() { cute::warpgroup_arrive(); }

// Ends a group of products.
ORDO_DEVICE void CommitProducts() { cute::warpgroup_commit_batch(); }

// All groups have ended but for the last `kPending`.
template <int kPending>
ORDO_DEVICE void WaitForProducts() {
  cute::warpgroup_wait<kPending>();
}

// The compiler keeps the numbers where they are up to here: sums, or what the
// warp packed as left sides.
template <typename Number, int kTiles>
ORDO_DEVICE void Pin(Number (&x)[kTiles][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kTiles; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) cute::warpgroup_fence_operand(x[n][e]);
  }
}

// CuTe's products of kColumns columns; with the left one in registers.
constexpr cute::SM90::GMMA::Major MajorOf(bool turned) {
  return turned ? cute::SM90::GMMA::Major::MN : cute::SM90::GMMA::Major::K;
}

template <typename Element, int kColumns, bool kTurnLeft, bool kTurnRight>
struct Product;

#define ORDO_PRODUCT(element, columns, name)                                  \
  template <bool kTurnLeft, bool kTurnRight>                                  \
  struct Product<element, columns, kTurnLeft, kTurnRight> {                   \
    using Tiles = cute::SM90::GMMA::MMA_64x##columns##x16_F32##name##_SS<     \
        MajorOf(kTurnLeft), MajorOf(kTurnRight)>;                             \
    using Registers = cute::SM90::GMMA::MMA_64x##columns##x16_F32##name##_RS< \
        MajorOf(kTurnLeft), MajorOf(kTurnRight)>;                             \
  }
ORDO_PRODUCT(Bfloat16, 64, BF16BF16);
ORDO_PRODUCT(Bfloat16, 128, BF16BF16);
ORDO_PRODUCT(Bfloat16, 192, BF16BF16);
ORDO_PRODUCT(Bfloat16, 256, BF16BF16);
ORDO_PRODUCT(Float16, 64, F16F16);
ORDO_PRODUCT(Float16, 128, F16F16);
ORDO_PRODUCT(Float16, 192, F16F16);
ORDO_PRODUCT(Float16, 256, F16F16);
#undef ORDO_PRODUCT

// CuTe takes each sum as an argument.
template <typename Product, typename Numbers>
struct WithSums;
template <typename Product, int... kNumbers>
struct WithSums<Product, std::integer_sequence<int, kNumbers...>> {
  static constexpr int kTiles = sizeof...(kNumbers) / 4;

  static ORDO_DEVICE void Begin(uint64_t left, uint64_t right, bool adds,
                                float (&sums)[kTiles][4]) {
    Product::fma(left, right, sums[kNumbers / 4][kNumbers % 4]...,
                 static_cast<cute::SM90::GMMA::ScaleOut>(adds));
  }

  static ORDO_DEVICE void Begin(const uint32_t (&left)[4], uint64_t right,
                                bool adds, float (&sums)[kTiles][4]) {
    Product::fma(left[0], left[1], left[2], left[3], right,
                 sums[kNumbers / 4][kNumbers % 4]...,
                 static_cast<cute::SM90::GMMA::ScaleOut>(adds));
  }
};

// sums = A B, or with `adds` sums += A B: elements into fp32, kColumns columns
// of B, 16 of the inner axis. A has the group's 64 rows.
template <typename Element, int kColumns, bool kTurnLeft, bool kTurnRight>
ORDO_DEVICE void MultiplyTiles(uint64_t left, uint64_t right, bool adds,
                               float (&sums)[kColumns / 8][4]) {
  WithSums<typename Product<Element, kColumns, kTurnLeft, kTurnRight>::Tiles,
           std::make_integer_sequence<int, kColumns / 2>>::Begin(left, right,
                                                                 adds, sums);
}

// The same with the group's rows of A as packed pairs of a fragment.
template <typename Element, int kColumns, bool kTurnRight>
ORDO_DEVICE void MultiplyRegisters(const uint32_t (&left)[4], uint64_t right,
                                   bool adds, float (&sums)[kColumns / 8][4]) {
  WithSums<typename Product<Element, kColumns, false, kTurnRight>::Registers,
           std::make_integer_sequence<int, kColumns / 2>>::Begin(left, right,
                                                                 adds, sums);
}

}  // namespace ordo::kernels::device

#endif  // ORDO_CUDA_EMULATED

#endif  // ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_
