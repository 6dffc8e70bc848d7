#ifndef ORDO_KERNELS_COMMON_CPU_VECTORS_H_
#define ORDO_KERNELS_COMMON_CPU_VECTORS_H_

#include <stdint.h>

// Vectors of ORDO_VECTOR_BYTES and products of matrices on them. Everything is
// in an anonymous namespace, and nothing of the C++ library is instantiated: a
// function for a newer machine must not take the place of another file's.

namespace ordo::kernels {
namespace {

constexpr int kLanes = ORDO_VECTOR_BYTES / 4;
using Vector __attribute__((vector_size(ORDO_VECTOR_BYTES))) = float;
using Integers __attribute__((vector_size(ORDO_VECTOR_BYTES))) = int32_t;
using Memory
    __attribute__((vector_size(ORDO_VECTOR_BYTES), aligned(4), may_alias)) =
        float;

// Rows and vectors of a block of a product that stays in registers.
constexpr int kBlockRows = 6;
constexpr int kBlockVectors = ORDO_VECTOR_BYTES == 64 ? 4 : 2;

constexpr float kLog2E = 1.44269504F;
constexpr float kLn2 = 0.693147181F;
// A hidden logit, and a maximum to begin with: exp2() of the first less the
// second is 0.
constexpr float kHidden = -1e30F;
constexpr float kLowest = -1e28F;

inline Vector Load(const float* x) {
  return *reinterpret_cast<const Memory*>(x);
}
inline void Store(float* x, Vector value) {
  *reinterpret_cast<Memory*>(x) = value;
}
inline Vector All(float x) { return x - Vector{}; }
// b where one is not a number.
inline Vector Max(Vector a, Vector b) { return a > b ? a : b; }

inline Integers Lanes() {
  Integers lane;
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  return lane;
}

// Lane i is lane from[i], modulo kLanes, of x.
inline Vector Permuted(Vector x, Integers from) {
#if defined(__clang__)
  return __builtin_shufflevector(x, from);
#else
  return __builtin_shuffle(x, from);
#endif
}

// Lane i is lane from[i], modulo 2 kLanes, of x and then y.
inline Vector Permuted(Vector x, Vector y, Integers from) {
#if defined(__clang__)
  return (from & kLanes) == 0 ? Permuted(x, from) : Permuted(y, from);
#else
  return __builtin_shuffle(x, y, from);
#endif
}

inline float Sum(Vector x) {
#pragma GCC unroll 8
  for (int step = kLanes / 2; step > 0; step /= 2) {
    x += Permuted(x, Lanes() ^ step);
  }
  return x[0];
}

inline float Largest(Vector x) {
#pragma GCC unroll 8
  for (int step = kLanes / 2; step > 0; step /= 2) {
    x = Max(x, Permuted(x, Lanes() ^ step));
  }
  return x[0];
}

// 2^x for x up to 0: a polynomial for the fraction (relative error 2e-8, by
// interpolation at Chebyshev's nodes), the exponent's bits for the rest. 0 for
// x of -127 and less, and what is not a number stays that.
inline Vector Exp2(Vector x) {
  const Vector lowest = All(-127.0F);
  x = Max(lowest, x);
  // The sum has its integer part in its last bits.
  const Vector magic = All(12582912.0F);
  const Vector shifted = x + magic;
  const Vector f = x - (shifted - magic);
  Vector y = All(1.5461444854736328e-4F);
  y = y * f + 1.3400427997112274e-3F;
  y = y * f + 9.618056938052177e-3F;
  y = y * f + 5.550327152013779e-2F;
  y = y * f + 0.24022650718688965F;
  y = y * f + 0.6931471824645996F;
  y = y * f + 1.0F;
  const Integers exponent =
      (reinterpret_cast<Integers>(shifted) - 0x4B400000 + 127) << 23;
  return y * reinterpret_cast<Vector>(exponent);
}

// Element (r, k) is data[r * row + k * step].
struct Left {
  const float* data;
  int64_t row;
  int64_t step;
};

// Rows of whole vectors.
struct Rows {
  float* data = nullptr;
  int64_t row = 0;
  Rows From(int64_t r) const { return {data + r * row, row}; }
};

// C = A B, or C += A B with `add`; columns are whole vectors. What is added is
// summed up on its own first: of many products in a row each has the error of
// its own depth, not of all.
struct Product {
  int64_t rows;
  int64_t columns;
  int64_t depth;
  Left a;
  Rows b;
  Rows c;
  bool add;
};

// What a product sums up.
struct FloatTerms {
  // An element of A, in all lanes.
  static Vector Spread(const float* x) { return All(*x); }
  static void Add(Vector x, Vector line, Vector* sum) { *sum += x * line; }
};

// The first kRows rows and kVectors vectors of C.
template <typename Terms, int kRows, int kVectors>
inline void Block(const Product& p) {
  Vector sums[kRows][kVectors] = {};
  const float* left = p.a.data;
  const float* right = p.b.data;
  const int64_t left_row = p.a.row;
  for (int64_t k = 0; k < p.depth; ++k) {
    Vector line[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) line[v] = Load(right + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vector x = Terms::Spread(left + r * left_row);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) Terms::Add(x, line[v], &sums[r][v]);
    }
    left += p.a.step;
    right += p.b.row;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      float* const to = p.c.data + r * p.c.row + v * kLanes;
      Store(to, p.add ? Load(to) + sums[r][v] : sums[r][v]);
    }
  }
}

// The first kVectors vectors of all rows.
template <typename Terms, int kVectors>
void Columns(Product p) {
  for (; p.rows >= kBlockRows; p.rows -= kBlockRows) {
    Block<Terms, kBlockRows, kVectors>(p);
    p.a.data += kBlockRows * p.a.row;
    p.c = p.c.From(kBlockRows);
  }
  switch (p.rows) {
    case 1:
      return Block<Terms, 1, kVectors>(p);
    case 2:
      return Block<Terms, 2, kVectors>(p);
    case 3:
      return Block<Terms, 3, kVectors>(p);
    case 4:
      return Block<Terms, 4, kVectors>(p);
    case 5:
      return Block<Terms, 5, kVectors>(p);
    default:
      return;
  }
}

template <typename Terms = FloatTerms>
void Multiply(Product p) {
  for (int64_t vectors = p.columns / kLanes; vectors > 0;) {
    int64_t done = 1;
    if (vectors >= kBlockVectors) {
      done = kBlockVectors;
      Columns<Terms, kBlockVectors>(p);
    } else if (vectors >= 2) {
      done = 2;
      Columns<Terms, 2>(p);
    } else {
      Columns<Terms, 1>(p);
    }
    p.b.data += done * kLanes;
    p.c.data += done * kLanes;
    vectors -= done;
  }
}

}  // namespace
}  // namespace ordo::kernels

#endif  // ORDO_KERNELS_COMMON_CPU_VECTORS_H_
