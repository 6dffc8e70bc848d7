#ifndef ORDO_KERNELS_COMMON_CUDA_VECTORS_H_
#define ORDO_KERNELS_COMMON_CUDA_VECTORS_H_

#include <cstdint>

#include "kernels/common/cuda_device.h"
#include "kernels/common/type.h"

// Numbers in a GPU's memory, read and written four at a time, as fp32.

namespace ordo::kernels {

ORDO_DEVICE int64_t BytesOf(Type type) {
  return type == Type::kFloat32 ? 4 : 2;
}

// Of a type of 16 bits: one number, and two, `low` in the low half.
ORDO_DEVICE float FromHalf(Type type, uint16_t x) {
  return type == Type::kFloat16 ? device::FromFloat16(x)
                                : device::FromBfloat16(x);
}
ORDO_DEVICE uint32_t PackHalves(Type type, float low, float high) {
  return type == Type::kFloat16 ? device::PackFloat16(low, high)
                                : device::PackBfloat16(low, high);
}

ORDO_DEVICE float LoadNumber(Type type, const void* data, int64_t at) {
  if (type == Type::kFloat32) return static_cast<const float*>(data)[at];
  return FromHalf(type, static_cast<const uint16_t*>(data)[at]);
}

ORDO_DEVICE void StoreNumber(Type type, float x, int64_t at, void* data) {
  if (type == Type::kFloat32) {
    static_cast<float*>(data)[at] = x;
  } else {
    static_cast<uint16_t*>(data)[at] =
        static_cast<uint16_t>(PackHalves(type, x, 0));
  }
}

struct Four {
  float x[4];
};

// Four numbers of a row from element `at` on: `count` of them exist, and
// `vectors` says that they begin at a multiple of their size together.
struct Quad {
  int64_t at;
  int64_t count;
  bool vectors;
};

// Whether the data begins where four numbers may, and so does what is `stride`
// elements further.
ORDO_DEVICE bool InVectors(Type type, const void* data, int64_t stride) {
  const int64_t bytes = 4 * BytesOf(type);
  return reinterpret_cast<uintptr_t>(data) % bytes == 0 && stride % 4 == 0;
}

// Zeros for what does not exist.
ORDO_DEVICE Four LoadFour(Type type, const void* data, const Quad& quad) {
  Four four = {};
  if (!quad.vectors || quad.count < 4) {
    for (int i = 0; i < 4 && i < quad.count; ++i) {
      four.x[i] = LoadNumber(type, data, quad.at + i);
    }
  } else if (type == Type::kFloat32) {
    const device::Words<4> words =
        device::LoadWords<4>(static_cast<const float*>(data) + quad.at);
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) four.x[i] = device::AsFloat(words.word[i]);
  } else {
    const device::Words<2> words =
        device::LoadWords<2>(static_cast<const uint16_t*>(data) + quad.at);
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) {
      four.x[i] = FromHalf(
          type, static_cast<uint16_t>(words.word[i / 2] >> (i % 2 * 16)));
    }
  }
  return four;
}

ORDO_DEVICE void StoreFour(Type type, const Four& four, const Quad& quad,
                           void* data) {
  if (!quad.vectors || quad.count < 4) {
    for (int i = 0; i < 4 && i < quad.count; ++i) {
      StoreNumber(type, four.x[i], quad.at + i, data);
    }
  } else if (type == Type::kFloat32) {
    device::Words<4> words;
    ORDO_UNROLL
    for (int i = 0; i < 4; ++i) words.word[i] = device::AsWord(four.x[i]);
    device::StoreWords(words, static_cast<float*>(data) + quad.at);
  } else {
    device::Words<2> words;
    ORDO_UNROLL
    for (int i = 0; i < 2; ++i) {
      words.word[i] = PackHalves(type, four.x[2 * i], four.x[2 * i + 1]);
    }
    device::StoreWords(words, static_cast<uint16_t*>(data) + quad.at);
  }
}

}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CUDA_VECTORS_H_
