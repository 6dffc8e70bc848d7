#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// Between cuda_tiled_rows.cu and what is compiled once for each pair of widths.

namespace ordo::kernels::attention {

// What the kernels read beside the call, by value.
struct TiledArguments {
  Call call;
  // Distances of keys from queries that there are: element d + S - 1 of a part
  // of d_bias is that of distance d; and elements from one part to the next.
  int64_t spread_length = 0;
  int64_t spread_stride = 0;
  // [B,H,T]: sum over what is mixed of it times its gradient.
  float* delta_BHT = nullptr;
  // [B,H,parts,spread_stride]: sums over the queries that one block has; null
  // unless the bias' gradient is wanted.
  float* d_bias_parts = nullptr;
  int64_t parts = 0;
};

// The code for q and k of up to `width` columns, and up to `values_width` of
// all value tensors together. Both passes: null, or what went wrong.
struct TiledWidths {
  int64_t width;
  int64_t values_width;
  // Of a block, the most that a pass asks for.
  int64_t shared_bytes;
  const char* (*forward)(const TiledArguments& arguments, void* stream);
  const char* (*backward)(const TiledArguments& arguments, void* stream);
};

template <int kWidth, int kValuesWidth>
const TiledWidths& Widths();

// Blocks over which the queries of a head are dealt out where each block has a
// part of d_bias: few, so that the parts stay linear in the keys.
inline constexpr int64_t kBiasParts = 8;

// Queries of a block of threads, keys of a step.
inline constexpr int kCudaTile = 64;

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_
