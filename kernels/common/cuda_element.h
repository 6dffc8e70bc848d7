#ifndef ORDO_KERNELS_COMMON_CUDA_ELEMENT_H_
#define ORDO_KERNELS_COMMON_CUDA_ELEMENT_H_

#include <cstdint>

#include "kernels/common/cuda_device.h"
#include "kernels/common/type.h"

// The numbers of 16 bits that device code multiplies, and how: sums are fp32.

namespace ordo::kernels {

struct Bfloat16 {
  static constexpr Type kType = Type::kBfloat16;

  // Two, rounded to nearest even, `low` in the low half.
  static ORDO_DEVICE uint32_t Pack(float low, float high) {
    return device::PackBfloat16(low, high);
  }
  static ORDO_DEVICE float From(uint16_t x) { return device::FromBfloat16(x); }
  static ORDO_DEVICE void MultiplyAdd(const uint32_t a[4], const uint32_t b[2],
                                      float c[4]) {
    device::MultiplyAdd(a, b, c);
  }
};

struct Float16 {
  static constexpr Type kType = Type::kFloat16;

  static ORDO_DEVICE uint32_t Pack(float low, float high) {
    return device::PackFloat16(low, high);
  }
  static ORDO_DEVICE float From(uint16_t x) { return device::FromFloat16(x); }
  static ORDO_DEVICE void MultiplyAdd(const uint32_t a[4], const uint32_t b[2],
                                      float c[4]) {
    device::MultiplyAddFloat16(a, b, c);
  }
};

}  // namespace ordo::kernels

// A file that is compiled once for each type has ORDO_TYPE, the number of the
// Type; without it the type is bf16. What depends on the type lies in a
// namespace ORDO_OF_TYPE, so that none of it takes the place of another type's,
// and nobody outside finds it by chance.
#if defined(ORDO_TYPE) && ORDO_TYPE == 2
#define ORDO_OF_TYPE of_float16
#define ORDO_ELEMENT Float16
#else
#define ORDO_OF_TYPE of_bfloat16
#define ORDO_ELEMENT Bfloat16
#endif

#ifdef ORDO_TYPE
static_assert(ORDO_TYPE ==
              static_cast<int>(ordo::kernels::ORDO_ELEMENT::kType));
#endif

#endif  // ORDO_KERNELS_COMMON_CUDA_ELEMENT_H_
