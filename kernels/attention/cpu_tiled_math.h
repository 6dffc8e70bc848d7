#ifndef ORDO_KERNELS_ATTENTION_CPU_TILED_MATH_H_
#define ORDO_KERNELS_ATTENTION_CPU_TILED_MATH_H_

#include <math.h>

#include "kernels/common/cpu_vectors.h"

// The functions of score_mod.h, on vectors.

namespace ordo::kernels::attention {
namespace {

struct LaneMath {
  using Number = Vector;

  static Vector Of(float x) { return All(x); }

  // The product is rounded: a relative error of |x| 2^-24.
  static Vector Exp(Vector x) {
    const Vector most = All(128.0F);
    const Vector y = x * All(kLog2E);
    // What is not a number stays so.
    return Exp2(y > most ? most : y);
  }

  // The exponent's bits, and for x in [sqrt(1/2), sqrt(2)) the series
  // ln x = 2 (s + s^3 / 3 + ...), s = (x - 1) / (x + 1), to a relative error of
  // 3e-9.
  static Vector Log(Vector x) {
    constexpr int32_t kRootOfHalf = 0x3F3504F3;
    constexpr int32_t kMantissa = 0x007FFFFF;
    const Integers bits = reinterpret_cast<Integers>(x);
    const Integers above = bits - kRootOfHalf;
    const Vector fraction =
        reinterpret_cast<Vector>((above & kMantissa) + kRootOfHalf);
    const Vector exponent = __builtin_convertvector(above >> 23, Vector);
    const Vector s = (fraction - 1.0F) / (fraction + 1.0F);
    const Vector s2 = s * s;
    Vector series = All(2.0F / 9);
    series = series * s2 + 2.0F / 7;
    series = series * s2 + 2.0F / 5;
    series = series * s2 + 2.0F / 3;
    series = series * s2 + 2.0F;
    const Vector found = exponent * kLn2 + s * series;
    const Vector least = All(1.17549435e-38F);
    const Vector finite = x > All(3.40282347e38F) ? x : found;
    const Vector low = x < Vector{} ? All(NAN) : All(-INFINITY);
    // Of what is not a number no comparison holds.
    return x >= least ? finite : (x < least ? low : x);
  }
};

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_TILED_MATH_H_
