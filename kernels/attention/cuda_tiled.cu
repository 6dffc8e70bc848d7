// Tiled attention on tensor cores, for any GPU of compute capability 8.0 or
// newer: mma.sync, ldmatrix and cp.async, in the tiles and with the online
// softmax of FlashAttention-2 (Dao 2023, arXiv:2307.08691). Beside cpu_tiled:
// products of bf16 into fp32, one block of threads for each tile of queries.
//
// All value tensors lie side by side in one tile: one map of weights, one
// gradient of the logits from the gradients of all that is mixed. The backward
// pass has two kernels, one for what queries get and one for what keys get, so
// that nothing is added by atomics: reruns agree bit for bit, for two more
// products (of five) in the plain case.
//
// Not supported: fp32, widths that are no multiples of 8, and widths that no
// pair of the build has room for. Not measured: written without a device.
//
// Compiled once for each pair of widths, ORDO_WIDTH and ORDO_VALUES_WIDTH.

#include <algorithm>

#include "kernels/attention/cuda_tiled_forward.h"
#include "kernels/attention/cuda_tiled_keys.h"
#include "kernels/attention/cuda_tiled_queries.h"

namespace ordo::kernels::attention {
namespace {

int64_t NumTiles(int64_t tokens) {
  return (tokens + kCudaTile - 1) / kCudaTile;
}

// Whether a problem has what Hook<true> is for.
bool HasTerms(const Problem& p) {
  return p.multiplied || p.rectified || p.pieces > 0;
}

template <int kD, int kW>
const char* Forward(const TiledArguments& arguments, void* stream) {
  const Problem& p = arguments.call.problem;
  const device::Grid grid = {NumTiles(p.queries), p.heads, p.batch, kThreads,
                             ForwardShared<kD, kW>::kBytes};
  return device::Launch(
      HasTerms(p) ? TiledForward<kD, kW, true> : TiledForward<kD, kW, false>,
      grid, stream, arguments);
}

template <int kD, int kW>
const char* Backward(const TiledArguments& arguments, void* stream) {
  const Problem& p = arguments.call.problem;
  const int64_t tiles = NumTiles(p.queries);
  const int64_t pieces = arguments.d_pieces == nullptr ? 0 : PieceBytes(p);
  const device::Grid of_queries = {
      arguments.parts > 0 ? arguments.parts : tiles, p.heads, p.batch, kThreads,
      QueriesShared<kD, kW>::kBytes + pieces};
  const char* const error = device::Launch(
      HasTerms(p) ? TiledQueries<kD, kW, true> : TiledQueries<kD, kW, false>,
      of_queries, stream, arguments);
  if (error != nullptr) return error;
  const device::Grid of_keys = {NumTiles(p.keys), p.key_heads, p.batch,
                                kThreads, KeysShared<kD, kW>::kBytes};
  return device::Launch(
      HasTerms(p) ? TiledKeys<kD, kW, true> : TiledKeys<kD, kW, false>, of_keys,
      stream, arguments);
}

}  // namespace

template <>
const TiledWidths& Widths<ORDO_WIDTH, ORDO_VALUES_WIDTH>() {
  constexpr int kD = ORDO_WIDTH, kW = ORDO_VALUES_WIDTH;
  static constexpr TiledWidths kWidths = {
      kD,
      kW,
      std::max({ForwardShared<kD, kW>::kBytes, QueriesShared<kD, kW>::kBytes,
                KeysShared<kD, kW>::kBytes}),
      Forward<kD, kW>,
      Backward<kD, kW>,
  };
  return kWidths;
}

}  // namespace ordo::kernels::attention
