#ifndef ORDO_KERNELS_COMMON_CUDA_BOX_H_
#define ORDO_KERNELS_COMMON_CUDA_BOX_H_

#include <cstdint>

// Tiles in shared memory as cuda_hopper.h copies and multiplies them: rows of
// 64 numbers of 16 bits, that is eight pieces of 16 bytes, which lie exchanged:
// piece i of row r at i ^ (r % 8), rows counted from a multiple of
// kTileAlignment. A wider tile is several, one behind the other.

namespace ordo::kernels {

inline constexpr int kTileColumns = 64;
inline constexpr int64_t kTileAlignment = 1024;
inline constexpr int64_t kTileRowBytes = 2 * kTileColumns;

// Threads that compute a product together.
inline constexpr int kGroupThreads = 128;

// A tensor of 16-bit numbers, from its last axis on, and the boxes that are
// copied of it: kTileColumns by `rows` of the last two axes.
struct BoxedTensor {
  const void* data = nullptr;
  int64_t sizes[4] = {};
  // Elements from one to the next along all axes but the last, which is
  // contiguous.
  int64_t strides[3] = {};
  int rows = 0;
};

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CUDA_BOX_H_
