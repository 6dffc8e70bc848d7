#ifndef ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_
#define ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_

#include <cstdint>

#include "kernels/common/cuda_element.h"
#include "kernels/common/cuda_hopper.h"

// Products of a group of four warps: sums of 64 rows, of which warp w has those
// from 16 w on, as fragments: of lane 4 g + t, sums[n][e] is element
// (16 w + g + 8 (e / 2), 8 n + 2 t + e % 2). They run on their own: between
// their begin and WaitForProducts nobody touches the sums, operands in
// registers, and tiles.

namespace ordo::kernels {

// An operand in a tile of cuda_box.h, which the product reads from `tile` on,
// at a row that is a multiple of 8.
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
ORDO_DEVICE void BeginProducts() {
  asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

// Ends a group of products.
ORDO_DEVICE void CommitProducts() {
  asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

// All groups have ended but for the last `kPending`.
template <int kPending>
ORDO_DEVICE void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;"
               :
               : "n"(kPending)
               : "memory");
}

// The compiler keeps the numbers where they are up to here.
template <int kTiles>
ORDO_DEVICE void Pin(float (&x)[kTiles][4]) {
  ORDO_UNROLL
  for (int n = 0; n < kTiles; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(x[n][e]) : : "memory");
  }
}

// What the warp packed as left sides is there.
template <int kSteps>
ORDO_DEVICE void Pin(uint32_t (&x)[kSteps][4]) {
  ORDO_UNROLL
  for (int k = 0; k < kSteps; ++k) {
    ORDO_UNROLL
    for (int e = 0; e < 4; ++e) asm volatile("" : "+r"(x[k][e]) : : "memory");
  }
}

#define ORDO_SUMS_8(n)                                                    \
  "+f"(sums[n][0]), "+f"(sums[n][1]), "+f"(sums[n][2]), "+f"(sums[n][3]), \
      "+f"(sums[n + 1][0]), "+f"(sums[n + 1][1]), "+f"(sums[n + 1][2]),   \
      "+f"(sums[n + 1][3])
#define ORDO_SUMS_32(n) \
  ORDO_SUMS_8(n), ORDO_SUMS_8(n + 2), ORDO_SUMS_8(n + 4), ORDO_SUMS_8(n + 6)
#define ORDO_LIST_0                                                   \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, " \
  "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, " \
  "%28, %29, %30, %31"
#define ORDO_LIST_32                                                    \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, " \
  "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, "   \
  "%58, %59, %60, %61, %62, %63"
#define ORDO_LIST_64                                                    \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, " \
  "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, "   \
  "%90, %91, %92, %93, %94, %95"
#define ORDO_LIST_96                                                       \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, " \
  "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, "     \
  "%119, %120, %121, %122, %123, %124, %125, %126, %127"

// Two operands in shared memory; the last of what is named is whether sums are
// added to.
#define ORDO_TILES_PRODUCT(type, columns, list, a, b, add, turn_a, turn_b, \
                           ...)                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" add                    \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" columns           \
               "k16.f32." type "." type " {" list "}, %" a ", %" b         \
               ", p, 1, 1, %" turn_a ", %" turn_b ";\n}\n"                 \
               : __VA_ARGS__                                               \
               : "l"(left), "l"(right), "r"(static_cast<int>(adds)),       \
                 "n"(kTurnLeft), "n"(kTurnRight))

// The left one in registers.
#define ORDO_LEFT_PRODUCT(type, columns, list, a, b, add, turn_b, ...)   \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" add                  \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" columns         \
               "k16.f32." type "." type " {" list "}, {" a "}, %" b      \
               ", p, 1, 1, %" turn_b ";\n}\n"                            \
               : __VA_ARGS__                                             \
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), \
                 "l"(right), "r"(static_cast<int>(adds)), "n"(kTurnRight))

#define ORDO_PRODUCT(...)                           \
  if constexpr (Element::kType == Type::kFloat16) { \
    ORDO_TILES_PRODUCT("f16", __VA_ARGS__);         \
  } else {                                          \
    ORDO_TILES_PRODUCT("bf16", __VA_ARGS__);        \
  }
#define ORDO_REGISTERS_PRODUCT(...)                 \
  if constexpr (Element::kType == Type::kFloat16) { \
    ORDO_LEFT_PRODUCT("f16", __VA_ARGS__);          \
  } else {                                          \
    ORDO_LEFT_PRODUCT("bf16", __VA_ARGS__);         \
  }

// sums = A B, or with `adds` sums += A B: elements into fp32, kColumns columns
// of B, 16 of the inner axis. A has the group's 64 rows.
template <typename Element, int kColumns, bool kTurnLeft, bool kTurnRight>
ORDO_DEVICE void MultiplyTiles(uint64_t left, uint64_t right, bool adds,
                               float (&sums)[kColumns / 8][4]) {
  if constexpr (kColumns == 64) {
    ORDO_PRODUCT("64", ORDO_LIST_0, "32", "33", "34", "35", "36",
                 ORDO_SUMS_32(0));
  } else if constexpr (kColumns == 128) {
    ORDO_PRODUCT("128", ORDO_LIST_0 ORDO_LIST_32, "64", "65", "66", "67", "68",
                 ORDO_SUMS_32(0), ORDO_SUMS_32(8));
  } else if constexpr (kColumns == 192) {
    ORDO_PRODUCT("192", ORDO_LIST_0 ORDO_LIST_32 ORDO_LIST_64, "96", "97", "98",
                 "99", "100", ORDO_SUMS_32(0), ORDO_SUMS_32(8),
                 ORDO_SUMS_32(16));
  } else if constexpr (kColumns == 256) {
    ORDO_PRODUCT("256", ORDO_LIST_0 ORDO_LIST_32 ORDO_LIST_64 ORDO_LIST_96,
                 "128", "129", "130", "131", "132", ORDO_SUMS_32(0),
                 ORDO_SUMS_32(8), ORDO_SUMS_32(16), ORDO_SUMS_32(24));
  } else {
    static_assert(kColumns == 64, "no product of so many columns");
  }
}

// The same with the group's rows of A as packed pairs of a fragment.
template <typename Element, int kColumns, bool kTurnRight>
ORDO_DEVICE void MultiplyRegisters(const uint32_t (&left)[4], uint64_t right,
                                   bool adds, float (&sums)[kColumns / 8][4]) {
  if constexpr (kColumns == 64) {
    ORDO_REGISTERS_PRODUCT("64", ORDO_LIST_0, "%32, %33, %34, %35", "36", "37",
                           "38", ORDO_SUMS_32(0));
  } else if constexpr (kColumns == 128) {
    ORDO_REGISTERS_PRODUCT("128", ORDO_LIST_0 ORDO_LIST_32,
                           "%64, %65, %66, %67", "68", "69", "70",
                           ORDO_SUMS_32(0), ORDO_SUMS_32(8));
  } else if constexpr (kColumns == 192) {
    ORDO_REGISTERS_PRODUCT("192", ORDO_LIST_0 ORDO_LIST_32 ORDO_LIST_64,
                           "%96, %97, %98, %99", "100", "101", "102",
                           ORDO_SUMS_32(0), ORDO_SUMS_32(8), ORDO_SUMS_32(16));
  } else if constexpr (kColumns == 256) {
    ORDO_REGISTERS_PRODUCT(
        "256", ORDO_LIST_0 ORDO_LIST_32 ORDO_LIST_64 ORDO_LIST_96,
        "%128, %129, %130, %131", "132", "133", "134", ORDO_SUMS_32(0),
        ORDO_SUMS_32(8), ORDO_SUMS_32(16), ORDO_SUMS_32(24));
  } else {
    static_assert(kColumns == 64, "no product of so many columns");
  }
}

#undef ORDO_PRODUCT
#undef ORDO_REGISTERS_PRODUCT
#undef ORDO_TILES_PRODUCT
#undef ORDO_LEFT_PRODUCT
#undef ORDO_SUMS_8
#undef ORDO_SUMS_32
#undef ORDO_LIST_0
#undef ORDO_LIST_32
#undef ORDO_LIST_64
#undef ORDO_LIST_96

}  // namespace ordo::kernels::device

#endif  // ORDO_CUDA_EMULATED

#endif  // ORDO_KERNELS_COMMON_CUDA_HOPPER_PRODUCTS_H_
