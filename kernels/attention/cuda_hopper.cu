// Attention for GPUs of compute capability 9.0: products of 64 rows by four
// warps with operands in shared memory (wgmma), tiles that the copy engine
// brings (TMA), and a group of warps that does nothing but load, in the shape
// of FlashAttention-3 (Shah et al. 2024, arXiv:2407.08608). The same tiles of
// all value tensors side by side as cuda_tiled.cu. Blocks add to the queries'
// gradients one after the other, in an order that is always the same: reruns
// agree bit for bit.
//
// Of tables it has a bias, multipliers, also of rectified products, vectors of
// few distances at queries, and score mods, and another pair of q and k for far
// keys: kernels of their own, as each takes registers and instructions. Not
// supported: two of them at once, all other tables. Not measured: written
// without a device.
//
// Compiled once for each type (cuda_element.h) and pair of widths, ORDO_WIDTH
// and ORDO_VALUES_WIDTH.

#include "kernels/attention/cuda_hopper_backward.h"
#include "kernels/attention/cuda_hopper_band_rows.h"
#include "kernels/attention/cuda_hopper_forward.h"

namespace ordo::kernels::attention::ORDO_OF_TYPE {
namespace {

// Whether a thread has registers for the gradients of keys and values at once.
constexpr bool kAtOnce = ORDO_WIDTH + ORDO_VALUES_WIDTH <= 256;
static_assert(!kAtOnce || ORDO_WIDTH <= kThreads,
              "HopperBandSums has a thread for each column of vectors");

// Blocks of 64 queries, or of so many parts, with so many tiles.
template <int kD>
device::Grid BandGrid(const Problem& p, int64_t parts, int tiles) {
  const int64_t blocks = parts > 0 ? parts : NumTiles(p.queries);
  return {blocks, p.heads, p.batch, kThreads, 2 * tiles * kBandTile<kD>};
}

// The terms of vectors of distances.
template <int kD>
const char* FindTerms(const HopperArguments& arguments, void* stream) {
  const Problem& p = arguments.tiled.call.problem;
  if (p.query_band == 0) return nullptr;
  return device::Launch(HopperBandTerms<kD>, BandGrid<kD>(p, 0, 2), stream,
                        arguments);
}

// Their gradients: those of x and, in parts, of X.
template <int kD>
const char* DifferentiateTerms(const HopperArguments& arguments, void* stream) {
  const Problem& p = arguments.tiled.call.problem;
  if (arguments.band_changes_BHTL == nullptr) return nullptr;
  const char* const error = device::Launch(
      HopperBandRows<kD>, BandGrid<kD>(p, 0, 1), stream, arguments);
  if (error != nullptr || arguments.d_band_parts == nullptr) return error;
  return device::Launch(HopperBandVectors<kD>,
                        BandGrid<kD>(p, arguments.band_parts, 1), stream,
                        arguments);
}

template <int kD, int kW>
const char* Forward(const HopperArguments& arguments, void* stream) {
  using Shape = HopperForwardShape<kD, kW, kNoNumber>;
  using FarShape = HopperForwardShape<kD, kW, kFarPair>;
  const Problem& p = arguments.tiled.call.problem;
  const char* const error = FindTerms<kD>(arguments, stream);
  if (error != nullptr) return error;
  const device::Grid grid = {
      (p.queries + Shape::kQueries - 1) / Shape::kQueries, p.heads, p.batch,
      kHopperThreads, p.far_from > 0 ? FarShape::kBytes : Shape::kBytes};
  // Problems with vectors are not given to widths that have none backward.
  constexpr DistanceNumber kBand = kAtOnce ? kBandNumber : kNoNumber;
  constexpr void (*kKernels[])(HopperArguments) = {
      HopperForward<kD, kW, kNoNumber>,
      HopperForward<kD, kW, kBiasNumber>,
      HopperForward<kD, kW, kMultiplierNumber>,
      HopperForward<kD, kW, kBand>,
      HopperForward<kD, kW, kModNumber>,
      HopperForward<kD, kW, kFarPair>};
  return device::Launch(kKernels[DistanceNumberOf(p)], grid, stream, arguments);
}

// Without parts of a table's gradient a block for each tile of keys.
template <int kD, int kW, GradientsOf kPart>
const char* LaunchBackward(const HopperArguments& arguments, void* stream) {
  using Shape = HopperBackwardShape<kD, kW, kPart>;
  const Problem& p = arguments.tiled.call.problem;
  const int64_t parts = arguments.tiled.parts;
  const device::Grid grid = {
      parts > 0 ? parts / 2 : (p.keys + Shape::kKeys - 1) / Shape::kKeys,
      p.key_heads, p.batch, kHopperThreads, Shape::kBytes};
  if constexpr (Shape::kHasNumbers) {
    constexpr void (*kKernels[])(HopperArguments) = {
        HopperBackward<kD, kW, kNoNumber, kPart>,
        HopperBackward<kD, kW, kBiasNumber, kPart>,
        HopperBackward<kD, kW, kMultiplierNumber, kPart>,
        HopperBackward<kD, kW, kBandNumber, kPart>,
        HopperBackward<kD, kW, kModNumber, kPart>,
        HopperBackward<kD, kW, kFarPair, kPart>};
    return device::Launch(kKernels[DistanceNumberOf(p)], grid, stream,
                          arguments);
  } else {
    return device::Launch(HopperBackward<kD, kW, kNoNumber, kPart>, grid,
                          stream, arguments);
  }
}

template <int kD, int kW>
const char* Backward(const HopperArguments& arguments, void* stream) {
  if constexpr (kAtOnce) {
    const char* error = FindTerms<kD>(arguments, stream);
    if (error == nullptr) {
      error = LaunchBackward<kD, kW, kOfAll>(arguments, stream);
    }
    return error != nullptr ? error : DifferentiateTerms<kD>(arguments, stream);
  } else {
    const char* const error =
        LaunchBackward<kD, kW, kOfLogits>(arguments, stream);
    if (error != nullptr) return error;
    return LaunchBackward<kD, kW, kOfValues>(arguments, stream);
  }
}

constexpr int kD = ORDO_WIDTH, kW = ORDO_VALUES_WIDTH;
constexpr HopperWidths kWidths = {
    Element::kType,
    kD,
    kW,
    HopperForwardShape<kD, kW, kNoNumber>::kQueries,
    HopperForwardShape<kD, kW, kNoNumber>::kKeys,
    Forward<kD, kW>,
    HopperBackwardShape<kD, kW, kOfValues>::kRows,
    HopperBackwardShape<kD, kW, kOfValues>::kKeys,
    /*has_numbers=*/kAtOnce,
    Backward<kD, kW>,
};

}  // namespace
}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

namespace ordo::kernels::attention {

template <>
const HopperWidths& HopperCode<ORDO_TYPE, ORDO_WIDTH, ORDO_VALUES_WIDTH>() {
  return ORDO_OF_TYPE::kWidths;
}

}  // namespace ordo::kernels::attention
