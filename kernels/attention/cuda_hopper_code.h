#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_CODE_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_CODE_H_

#include <cstdint>

#include "kernels/attention/cuda_tiled_code.h"
#include "kernels/attention/problem.h"
#include "kernels/common/cuda_hopper.h"

// Between cuda_hopper_rows.cu and what is compiled once for each type and pair
// of widths.

namespace ordo::kernels::attention {

// A group that loads and two that compute.
inline constexpr int kHopperThreads = 3 * kGroupThreads;

// Tensors whose boxes are loaded.
enum Boxed {
  kBoxedQ,
  kBoxedK,
  kBoxedFarQ,
  kBoxedFarK,
  kBoxedValue,
  kBoxedMixed = kBoxedValue + kMaxValues,
  kNumBoxed = kBoxedMixed + kMaxValues
};

// What a logit has of its distance: nothing, b, M, x.X, t of a score mod, or
// another pair of q and k from far_from on. Kernels are compiled for each.
enum DistanceNumber {
  kNoNumber,
  kBiasNumber,
  kMultiplierNumber,
  kBandNumber,
  kModNumber,
  kFarPair,
};

constexpr DistanceNumber DistanceNumberOf(const Problem& p) {
  if (p.far_from > 0) return kFarPair;
  if (p.query_band > 0) return kBandNumber;
  if (HasMod(p)) return kModNumber;
  if (p.multiplied) return kMultiplierNumber;
  return p.biased ? kBiasNumber : kNoNumber;
}

// The most distances that vectors may be of.
inline constexpr int64_t kBandColumns = 64;

// L of a band: no keys come after the query.
constexpr int64_t BandDistances(const Problem& p) { return p.reach + 1; }

// Whether b, M or t is there.
constexpr bool HasTable(const Problem& p) {
  return p.biased || p.multiplied || HasMod(p);
}

// Its table, and the sums of its gradient.
constexpr Input NumberInput(const Problem& p) {
  if (HasMod(p)) return kModDistance;
  return p.multiplied ? kMultiplier : kBias;
}
constexpr TableSums SumsOf(DistanceNumber number) {
  if (number == kModNumber) return kModSums;
  return number == kMultiplierNumber ? kMultiplierSums : kBiasSums;
}
constexpr TableSums NumberSums(const Problem& p) {
  return SumsOf(DistanceNumberOf(p));
}

// Columns [column, column + kTileColumns) of value tensor `value`; of none if
// it is negative.
struct Slot {
  int value = -1;
  int column = 0;
};

// Value tensors lie side by side in tiles, each from the next tile on.
inline constexpr int kMaxSlots = 4;

struct HopperArguments {
  TiledArguments tiled;
  Slot slots[kMaxSlots];
  // With boxes of as many rows as the pass reads. Those without data are of
  // something else, beyond whose end is read.
  device::TensorMap maps[kNumBoxed];
  bool has[kNumBoxed] = {};
  // Of the backward pass: sums of the queries' gradients, [B,H,T,D], and for
  // each tile of queries how many tiles of keys have added to them,
  // [B,H,tiles]; then, if there are far keys, the same of far q.
  float* dq_BHTD = nullptr;
  int* turns = nullptr;
  // How many blocks of it have begun.
  int* begun = nullptr;
  // Of vectors of distances: terms, and gradients of terms, [B,H,T,L], and
  // parts of the gradient of X, [B,H,band_parts,L,E]. Null: not wanted.
  float* band_terms_BHTL = nullptr;
  float* band_changes_BHTL = nullptr;
  float* d_band_parts = nullptr;
  int64_t band_parts = 0;
};
static_assert(sizeof(HopperArguments) <= 4096,
              "parameters of a kernel have no more room");

// The code for q and k of up to `width` columns, and up to `values_width` of
// all value tensors together. Both passes: null, or what went wrong.
struct HopperWidths {
  Type type;
  int64_t width;
  int64_t values_width;
  // Of the boxes: queries and keys of a tile.
  int forward_queries;
  int forward_keys;
  const char* (*forward)(const HopperArguments& arguments, void* stream);
  int backward_queries;
  int backward_keys;
  // Whether it has backward kernels for numbers of distances, and any for
  // vectors of them.
  bool has_numbers;
  const char* (*backward)(const HopperArguments& arguments, void* stream);
};

// kType: the number of the type.
template <int kType, int kWidth, int kValuesWidth>
const HopperWidths& HopperCode();

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_CODE_H_
