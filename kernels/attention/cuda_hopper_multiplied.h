#ifndef ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MULTIPLIED_H_
#define ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MULTIPLIED_H_

#include <cmath>
#include <cstdint>

#include "kernels/attention/cuda_hopper_sight.h"
#include "kernels/attention/cuda_tile_products.h"

// What the backward pass of cuda_hopper.cu does with products that are times M:
// the gradient of M is of the products, so these stay where they are, and so do
// weights, where there are registers for both (kKeeps). Elsewhere weights are
// computed a second time from products: an exp2 and a product for each pair.
//
// Legend: fragments have keys as rows and queries as columns.

namespace ordo::kernels::attention {

// Of a lane's pairs in a step.
struct MultipliedPairs {
  // As TurnedNumbers has them.
  const float* numbers;
  // Of the queries of the step.
  const float* lse;
  const float* delta;
  float least;
  // IsWhole of the step; if not, HiddenQueries of the lane.
  bool whole;
  uint32_t hidden;
};

}  // namespace ordo::kernels::attention

namespace ordo::kernels::attention::ORDO_OF_TYPE {

// Products become at least what they count as, and `weights` get what they
// weigh, as `kept` does if kKeeps.
template <int kRows, bool kKeeps>
ORDO_DEVICE void WeighMultiplied(const MultipliedPairs& pairs,
                                 float (&products)[kRows / 8][4],
                                 float (&kept)[kRows / 8][4],
                                 uint32_t (&weights)[kRows / 16][4]) {
  const float* const lse = pairs.lse + device::ThreadId() % 4 * 2;
  // Eight rows on are eight columns back.
  float before[2] = {pairs.numbers[8], pairs.numbers[7]};
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    float weighed[4];
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = pairs.numbers[-8 * n - e];
      ORDO_UNROLL
      for (int i = e; i < 4; i += 2) {
        products[n][i] = device::AtLeast(products[n][i], pairs.least);
        weighed[i] = exp2f(
            fmaf(products[n][i], i < 2 ? here : before[e], -lse[8 * n + e]));
      }
      before[e] = here;
    }
    ORDO_UNROLL
    for (int i = 0; kKeeps && i < 4; ++i) kept[n][i] = weighed[i];
    ORDO_UNROLL
    for (int half = 0; half < 2; ++half) {
      weights[n / 2][n % 2 * 2 + half] =
          Element::Pack(weighed[2 * half], weighed[2 * half + 1]);
    }
  }
  if (pairs.whole) return;
  ORDO_UNROLL
  for (int i = 0; i < kRows / 8 * 2; ++i) {
    const uint32_t hidden = pairs.hidden >> (2 * i);
    uint32_t& pair = weights[i / 4][i % 4];
    if (hidden & 1) pair &= 0xFFFF0000U;
    if (hidden & 2) pair &= 0x0000FFFFU;
  }
}

// Gradients of the weights become those of the products, times the scale and
// log2(e), and products become terms of the gradient of M.
template <int kRows, bool kKeeps>
ORDO_DEVICE void DifferentiateMultiplied(const MultipliedPairs& pairs,
                                         const float (&kept)[kRows / 8][4],
                                         float (&products)[kRows / 8][4],
                                         float (&changes)[kRows / 8][4]) {
  const int column = device::ThreadId() % 4 * 2;
  float before[2] = {pairs.numbers[8], pairs.numbers[7]};
  ORDO_UNROLL
  for (int n = 0; n < kRows / 8; ++n) {
    ORDO_UNROLL
    for (int e = 0; e < 2; ++e) {
      const float here = pairs.numbers[-8 * n - e];
      const float lse = pairs.lse[8 * n + e + column];
      const float delta = pairs.delta[8 * n + e + column];
      ORDO_UNROLL
      for (int i = e; i < 4; i += 2) {
        const float number = i < 2 ? here : before[e];
        const float weight =
            kKeeps ? kept[n][i] : exp2f(fmaf(products[n][i], number, -lse));
        const float change = weight * (changes[n][i] - delta);
        changes[n][i] = change * (products[n][i] > pairs.least ? number : 0);
        products[n][i] *= change;
      }
      before[e] = here;
    }
  }
  if (pairs.whole) return;
  ORDO_UNROLL
  for (int i = 0; i < kRows / 8 * 4; ++i) {
    if (pairs.hidden >> i & 1)
      changes[i / 4][i % 4] = products[i / 4][i % 4] = 0;
  }
}

}  // namespace ordo::kernels::attention::ORDO_OF_TYPE

#endif  // ORDO_KERNELS_ATTENTION_CUDA_HOPPER_MULTIPLIED_H_
