// cpu_pairs.h for AVX512_BF16: both passes, and their products by VDPBF16PS.
#define ORDO_VECTOR_BYTES 64
#include "kernels/attention/cpu_pairs_backward.h"
#include "kernels/attention/cpu_pairs_code.h"
#include "kernels/attention/cpu_pairs_forward.h"

namespace ordo::kernels::attention {
namespace {

// Of a Product whose floats are pairs of bf16.
struct PairTerms {
  static Vector Spread(const float* x) {
    int32_t pair;
    memcpy(&pair, x, sizeof pair);
    return reinterpret_cast<Vector>(pair - Integers{});
  }
  static void Add(Vector x, Vector line, Vector* sum) {
    *sum = reinterpret_cast<Vector>(_mm512_dpbf16_ps(
        reinterpret_cast<__m512>(*sum), reinterpret_cast<__m512bh>(x),
        reinterpret_cast<__m512bh>(line)));
  }
};

void MultiplyPairs(const PairProduct& p) {
  const auto floats = [](const Pair* pairs) {
    return const_cast<float*>(reinterpret_cast<const float*>(pairs));
  };
  Multiply<PairTerms>({p.rows,
                       p.columns,
                       p.depth,
                       {floats(p.a), p.a_row, 1},
                       {floats(p.b), p.b_row},
                       {p.c, p.c_row},
                       p.add});
}

}  // namespace

const PairProducts kDotProducts = {nullptr, nullptr, MultiplyPairs};
const TiledCode kPairsCode = {RoomBytes, Forward, Backward};

}  // namespace ordo::kernels::attention
