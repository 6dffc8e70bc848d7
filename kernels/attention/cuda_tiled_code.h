#ifndef ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_

#include <cstdint>

#include "kernels/attention/problem.h"

// Between cuda_tiled_rows.cu and what is compiled once for each type and pair
// of widths.

namespace ordo::kernels::attention {

// Threads of a block; its queries, and keys of a step.
inline constexpr int kThreads = 128;
inline constexpr int kCudaTile = 64;

constexpr int64_t NumTiles(int64_t tokens) {
  return (tokens + kCudaTile - 1) / kCudaTile;
}

// Tables of the distance with gradients.
enum TableSums { kBiasSums, kMultiplierSums, kModSums, kNumTableSums };

// What the kernels read beside the call, by value.
struct TiledArguments {
  Call call;
  // Distances of keys from queries that there are: element d + ZeroOf(problem)
  // of a part of a table's gradient is that of distance d; and elements from
  // one part to the next.
  int64_t spread_length = 0;
  int64_t spread_stride = 0;
  // [B,H,T]: sum over what is mixed of it times its gradient.
  float* delta_BHT = nullptr;
  // [B,H,parts,spread_stride] each: sums over the queries that one block has.
  // Null: the table's gradient is not wanted.
  float* d_parts[kNumTableSums] = {};
  // The same of theta of a score mod, [B,H,parts,P F]; and of its r, [B,H,T].
  // Null: neither is wanted.
  float* d_theta = nullptr;
  float* d_rows = nullptr;
  // Of the vectors of distances, X and Y: [B,H,parts,spread_stride,width], the
  // width that of q and k in this instance. Null: not wanted.
  float* d_vectors[2] = {};
  int64_t vectors_width = 0;
  // Bytes of shared memory before those of the bands.
  int64_t band_offset = 0;
  // Blocks that the queries of a head are dealt out to; 0: one for each tile.
  int64_t parts = 0;
  // [B,H]: the number of distances, from 0 on, at which keys count; null: all
  // count. And what it is found from, of cuda_near.h.
  int* near_BH = nullptr;
  float* near_terms = nullptr;
};

// The code for q and k of up to `width` columns, and up to `values_width` of
// all value tensors together. Both passes: null, or what went wrong.
struct TiledWidths {
  Type type;
  int64_t width;
  int64_t values_width;
  // Of a block, the most that a pass asks for without a score mod and without
  // bands, and what bands take.
  int64_t shared_bytes;
  int64_t band_bytes;
  const char* (*forward)(const TiledArguments& arguments, void* stream);
  const char* (*backward)(const TiledArguments& arguments, void* stream);
};

// kType: the number of the type.
template <int kType, int kWidth, int kValuesWidth>
const TiledWidths& Widths();

// Null, or why none of a row's instances is for the type.
template <typename Instance, int kCount>
const char* TypeRefusal(const Instance* const (&instances)[kCount], Type type) {
  if (type == Type::kFloat32) return "its type must be bf16 or fp16";
  for (const Instance* const instance : instances) {
    if (instance->type == type) return nullptr;
  }
  return "the library was not built for fp16: bazel build --config=cuda_all";
}

// What both passes have before all else, in cuda_tiled_rows.cu: near_BH, in
// `memory` of so many bytes, where some keys may not count (else there are
// none). Null, or what went wrong.
int64_t NearBytes(const Problem& problem);
const char* FindNear(void* memory, void* stream, TiledArguments* arguments);

// What all backward passes have before the products and after them, in
// cuda_tiled_rows.cu: delta, of what was mixed and its gradients; and the
// gradients of tables, and of theta and r of a score mod, from their parts.
// Null, or what went wrong.
const char* FindDelta(const TiledArguments& arguments, void* stream);
const char* SumTables(const TiledArguments& arguments, void* stream);
const char* SumMod(const TiledArguments& arguments, void* stream);

// TiledArguments::parts where there are some: few, so that they stay linear in
// the keys.
inline constexpr int64_t kMaxParts = 8;
// Where each of them has a vector for each distance.
inline constexpr int64_t kMaxVectorParts = 4;

inline bool HasBands(const Problem& problem) {
  return problem.query_band > 0 || problem.key_band > 0;
}
inline int64_t MaxParts(const Problem& problem) {
  return HasBands(problem) ? kMaxVectorParts : kMaxParts;
}

// The element of a part of a table's gradient that is of distance 0: with
// position ids they are the table's.
constexpr int64_t ZeroOf(const Problem& problem) {
  return problem.positioned ? problem.reach : problem.keys - 1;
}

// Of a score mod: each thread has a sum for each parameter in shared memory.
inline constexpr int64_t kMaxPieces = 64;

inline int64_t ThetaBytes(const Problem& problem) {
  return ParametersOf(problem) * kThreads * static_cast<int64_t>(sizeof(float));
}

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_TILED_CODE_H_
