#ifndef ORDO_KERNELS_COMMON_FLOAT16_H_
#define ORDO_KERNELS_COMMON_FLOAT16_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

// fp16, the binary16 of IEEE 754, on processors that may not know it.

namespace ordo::kernels {

// The nearest, ties to even: infinite from 65520 on, with a spacing of 2^-24
// below 2^-13.
inline uint16_t ToFloat16(float x) {
  if (std::isnan(x)) return 0x7FFF;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const float size = std::fabs(x);
  if (size >= 65520) return sign | 0x7C00;
  int exponent = 0;
  std::frexp(size, &exponent);
  const int spacing = size == 0 ? -24 : std::max(exponent - 11, -24);
  const auto units =
      static_cast<int>(std::nearbyint(std::ldexp(size, -spacing)));
  // The leading unit adds one to the exponent, which numbers from 2^-14 on
  // have.
  return static_cast<uint16_t>(sign | (((spacing + 24) << 10) + units));
}

inline float FromFloat16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t word = static_cast<uint32_t>(bits & 0x7FFF) << 13;
  float size = 0;
  std::memcpy(&size, &word, sizeof size);
  // fp32's exponents begin 112 before.
  size *= 0x1p112F;
  if ((bits & 0x7C00) == 0x7C00) {
    word |= 0x7F800000;
    std::memcpy(&size, &word, sizeof size);
  }
  return sign == 0 ? size : -size;
}

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_FLOAT16_H_
