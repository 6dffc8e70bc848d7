#ifndef ORDO_KERNELS_ATTENTION_CPU_PAIRS_CODE_H_
#define ORDO_KERNELS_ATTENTION_CPU_PAIRS_CODE_H_

#include <cstdint>

#include "kernels/attention/cpu_tiled_code.h"

// Between cpu_pairs.cc and what is compiled for instructions on pairs of bf16.

namespace ordo::kernels::attention {

// Two numbers in bf16 that are neighbours in the depth of a product, the first
// in the lower half.
using Pair = uint32_t;

// C = A B, or C += A B with `add`, in fp32.
//
// C has whole vectors of 16 columns. A and B must have zeros in pairs behind
// the depth up to the next multiple of 16, and A and C must have room for rows
// up to the next multiple of 16: what C has there is undefined.
struct PairProduct {
  int64_t rows;
  int64_t columns;
  // In pairs.
  int64_t depth;
  // Pair k of row r is a[r * a_row + k], ...
  const Pair* a;
  int64_t a_row;
  // ... that of column c is b[k * b_row + c].
  const Pair* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  bool add;
};

// Products by the instructions of some processors.
struct PairProducts {
  // Around a thread's products; null: nothing is to be done.
  void (*begin)();
  void (*end)();
  void (*multiply)(const PairProduct& product);
};
// VDPBF16PS of AVX512_BF16.
extern const PairProducts kDotProducts;
// TDPBF16PS of AMX-BF16.
extern const PairProducts kTileProducts;

// All but the products, which are Unit::products. For AVX512_BF16.
extern const TiledCode kPairsCode;

}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_PAIRS_CODE_H_
