// Tiled attention on tensor cores, for any GPU of compute capability 8.0 or
// newer: mma.sync, ldmatrix and cp.async, in the tiles and with the online
// softmax of FlashAttention-2 (Dao 2023, arXiv:2307.08691). Beside cpu_tiled:
// products of bf16 or fp16 into fp32, one block of threads for each tile of
// queries.
//
// All value tensors lie side by side in one tile: one map of weights, one
// gradient of the logits from the gradients of all that is mixed. The backward
// pass has two kernels, one for what queries get and one for what keys get, so
// that nothing is added by atomics: reruns agree bit for bit, for two more
// products (of five) in the plain case.
//
// Not supported: fp32, widths that are no multiples of 8, widths that no pair
// of the build has room for, and the terms that MissingTerm names. Not
// measured: written without a device.
//
// Compiled once for each type (cuda_element.h) and pair of widths, ORDO_WIDTH
// and ORDO_VALUES_WIDTH.

#include <algorithm>

#include "kernels/attention/cuda_tiled_forward.h"
#include "kernels/attention/cuda_tiled_keys.h"
#include "kernels/attention/cuda_tiled_queries.h"
#include "kernels/attention/cuda_tiled_summed.h"

namespace ordo::kernels::attention::ORDO_OF_TYPE {
namespace {

Terms TermsOf(const Problem& p) {
  if (HasBands(p) || p.summed) return kVectors;
  const bool by_id = p.positioned && p.biased;
  return p.multiplied || p.rectified || HasMod(p) || by_id ? kNumbers
                                                           : kNoTerms;
}

// Of the three kernels of a pass, the one for the problem.
using Compiled = void (*)(const TiledArguments);
Compiled ForTerms(const Problem& p, const Compiled (&kernels)[3]) {
  return kernels[TermsOf(p)];
}

// With the bands behind what the grid has of shared memory.
template <int kD>
const char* Launch(Compiled kernel, device::Grid grid,
                   const TiledArguments& arguments, void* stream) {
  TiledArguments placed = arguments;
  placed.band_offset = grid.shared_bytes;
  if (HasBands(arguments.call.problem)) grid.shared_bytes += BandBytes<kD>();
  return device::Launch(kernel, grid, stream, placed);
}

template <int kD, int kW>
const char* Forward(const TiledArguments& arguments, void* stream) {
  const Problem& p = arguments.call.problem;
  const device::Grid grid = {NumTiles(p.queries), p.heads, p.batch, kThreads,
                             ForwardShared<kD, kW>::kBytes};
  const char* const error =
      Launch<kD>(ForTerms(p, {TiledForward<kD, kW, kNoTerms>,
                              TiledForward<kD, kW, kNumbers>,
                              TiledForward<kD, kW, kVectors>}),
                 grid, arguments, stream);
  if (error != nullptr || !p.summed) return error;
  device::Grid of_sums = grid;
  of_sums.shared_bytes = SummedBytes<kD>();
  return Launch<kD>(TiledSummed<kD>, of_sums, arguments, stream);
}

template <int kD, int kW>
const char* Backward(const TiledArguments& arguments, void* stream) {
  const Problem& p = arguments.call.problem;
  const int64_t tiles = NumTiles(p.queries);
  const int64_t theta = arguments.d_theta == nullptr ? 0 : ThetaBytes(p);
  const device::Grid of_queries = {
      arguments.parts > 0 ? arguments.parts : tiles, p.heads, p.batch, kThreads,
      QueriesShared<kD, kW>::kBytes + theta};
  const char* const error =
      Launch<kD>(ForTerms(p, {TiledQueries<kD, kW, kNoTerms>,
                              TiledQueries<kD, kW, kNumbers>,
                              TiledQueries<kD, kW, kVectors>}),
                 of_queries, arguments, stream);
  if (error != nullptr) return error;
  const device::Grid of_keys = {NumTiles(p.keys), p.key_heads, p.batch,
                                kThreads, KeysShared<kD, kW>::kBytes};
  return Launch<kD>(
      ForTerms(p, {TiledKeys<kD, kW, kNoTerms>, TiledKeys<kD, kW, kNumbers>,
                   TiledKeys<kD, kW, kVectors>}),
      of_keys, arguments, stream);
}

constexpr int kD = ORDO_WIDTH, kW = ORDO_VALUES_WIDTH;
constexpr TiledWidths kWidths = {
    Element::kType,
    kD,
    kW,
    std::max({ForwardShared<kD, kW>::kBytes, QueriesShared<kD, kW>::kBytes,
              KeysShared<kD, kW>::kBytes}),
    BandBytes<kD>(),
    Forward<kD, kW>,
    Backward<kD, kW>,
};

}  // namespace
}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

namespace ordo::kernels::attention {

template <>
const TiledWidths& Widths<ORDO_TYPE, ORDO_WIDTH, ORDO_VALUES_WIDTH>() {
  return ORDO_OF_TYPE::kWidths;
}

}  // namespace ordo::kernels::attention
