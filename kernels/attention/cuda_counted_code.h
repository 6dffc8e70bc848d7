#ifndef ORDO_KERNELS_ATTENTION_CUDA_COUNTED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_COUNTED_CODE_H_

#include <cstdint>

#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/problem.h"

// Between cuda_counted_rows.cu and what is compiled once for each type and
// width.

namespace ordo::kernels::attention {

// A count: in whole, and in units less than one. Sums of units are exact in any
// order, so a count is the same in every kernel, and never less than that of a
// later key.
inline constexpr int kUnits = 1 << 24;
struct Counter {
  int whole;
  int part;
};

// Queries of a turn of the backward pass, a multiple of kCudaTile: few, so that
// what is kept for each of them and each tile of keys stays linear in the keys.
inline constexpr int64_t kTurn = 1024;
inline constexpr int64_t kTurnTiles = kTurn / kCudaTile;

// What a launch of the backward pass sums up: where both products and another
// would take too many registers, they come one by one.
enum CountedPart { kOfProducts, kOfValues, kOfGates, kNumCountedParts };

// What the kernels read beside the call, by value. The rest is of the backward
// pass.
struct CountedArguments {
  TiledArguments tiled;
  // Of the turn.
  int64_t first_query = 0;
  CountedPart part = kOfProducts;
  // [B,H,tiles of keys,kTurn]: counts of what is behind a tile; and sums of
  // gradients by counts of what is before it.
  Counter* counters = nullptr;
  float* d_counts = nullptr;
  // [B,H,kTurnTiles]: the first tile of keys with a count that z changes from.
  int* begins = nullptr;
  // [B,H,tiles of queries]; null: not wanted.
  float* d_slopes = nullptr;
  // [B,G,tiles of keys,width/2,kThreads] each: what blocks of keys have summed
  // up in turns before.
  float* sums[kNumCountedParts] = {};
};

// The code for q and k, and for all value tensors together, of up to `width`
// columns. Both passes: null, or what went wrong.
struct CountedWidth {
  Type type;
  int64_t width;
  // Of a block, the most that a pass asks for.
  int64_t shared_bytes;
  const char* (*forward)(const CountedArguments& arguments, void* stream);
  const char* (*backward)(const CountedArguments& arguments, void* stream);
};

// kType: the number of the type.
template <int kType, int kWidth>
const CountedWidth& CountedFor();

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_COUNTED_CODE_H_
