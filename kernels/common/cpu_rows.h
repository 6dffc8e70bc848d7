#ifndef ORDO_KERNELS_COMMON_CPU_ROWS_H_
#define ORDO_KERNELS_COMMON_CPU_ROWS_H_

#include <stdint.h>
#include <string.h>

#include "kernels/common/cpu_vectors.h"
#include "kernels/common/type.h"

// Rows of fp32 and bf16 as vectors of floats; see cpu_vectors.h.

namespace ordo::kernels {
namespace {

using Halves __attribute__((vector_size(ORDO_VECTOR_BYTES / 2))) = uint16_t;
using Bits __attribute__((vector_size(ORDO_VECTOR_BYTES))) = uint32_t;
using HalvesMemory
    __attribute__((vector_size(ORDO_VECTOR_BYTES / 2), aligned(2), may_alias)) =
        uint16_t;

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// `width` in whole vectors.
inline int64_t Padded(int64_t width) {
  return (width + kLanes - 1) / kLanes * kLanes;
}

inline int64_t BytesOf(Type type) { return type == Type::kFloat32 ? 4 : 2; }

inline Vector Widened(const uint16_t* x) {
  const Halves halves = *reinterpret_cast<const HalvesMemory*>(x);
  return reinterpret_cast<Vector>(__builtin_convertvector(halves, Bits) << 16);
}

// To the nearest bf16, ties to even; not-a-numbers stay such.
inline Halves Narrowed(Vector x) {
  const Bits bits = reinterpret_cast<Bits>(x);
  const Bits rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
  const Bits quiet = bits >> 16 | 0x40;
  return __builtin_convertvector(
      (bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded, Halves);
}

// Numbers i and following of a row of the type.
inline Vector LoadFrom(Type type, const void* row, int64_t i) {
  return type == Type::kFloat32
             ? Load(static_cast<const float*>(row) + i)
             : Widened(static_cast<const uint16_t*>(row) + i);
}

inline void StoreTo(Type type, void* row, int64_t i, Vector x) {
  if (type == Type::kFloat32) {
    Store(static_cast<float*>(row) + i, x);
  } else {
    *reinterpret_cast<HalvesMemory*>(static_cast<uint16_t*>(row) + i) =
        Narrowed(x);
  }
}

// The last `count` numbers of a row, fewer than a vector; zeros behind them.
inline Vector LoadPart(Type type, const void* row, int64_t i, int64_t count) {
  char part[ORDO_VECTOR_BYTES] = {};
  const int64_t bytes = BytesOf(type);
  memcpy(part, static_cast<const char*>(row) + i * bytes, count * bytes);
  return LoadFrom(type, part, 0);
}

// What the place of a vector in a row is.
struct Place {
  int64_t i;
  // Of the numbers that are the row's: kLanes but for the last vector.
  int64_t count;
};

inline Vector LoadAt(Type type, const void* row, Place place) {
  return place.count == kLanes ? LoadFrom(type, row, place.i)
                               : LoadPart(type, row, place.i, place.count);
}

inline void StoreAt(Type type, void* row, Place place, Vector x) {
  if (place.count == kLanes) return StoreTo(type, row, place.i, x);
  char part[ORDO_VECTOR_BYTES];
  const int64_t bytes = BytesOf(type);
  StoreTo(type, part, 0, x);
  memcpy(static_cast<char*>(row) + place.i * bytes, part, place.count * bytes);
}

// Calls step(place) for each vector of a row of `count` numbers.
template <typename Step>
inline void ForEachVector(int64_t count, const Step& step) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(Place{i, kLanes});
  if (i < count) step(Place{i, count - i});
}

// A row as whole vectors of floats, zeros behind it; and back.
inline void ReadRow(Type type, const void* row, int64_t count, float* out) {
  ForEachVector(count, [&](Place place) {
    Store(out + place.i, LoadAt(type, row, place));
  });
}

inline void WriteRow(Type type, const float* row, int64_t count, void* out) {
  ForEachVector(count, [&](Place place) {
    StoreAt(type, out, place, Load(row + place.i));
  });
}

// Hands out parts of a workspace; counts bytes where there is none.
class Arena {
 public:
  explicit Arena(void* base) : base_(static_cast<char*>(base)) {}
  float* Floats(int64_t count) {
    float* const result =
        base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + used_);
    used_ += (count * 4 + 63) / 64 * 64;
    return result;
  }
  int64_t used() const { return used_; }

 private:
  char* base_;
  int64_t used_ = 0;
};

}  // namespace
}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CPU_ROWS_H_
