#ifndef ORDO_KERNELS_ATTENTION_CPU_COUNTED_LANES_H_
#define ORDO_KERNELS_ATTENTION_CPU_COUNTED_LANES_H_

#include <stdint.h>

#include "kernels/common/cpu_vectors.h"

// Sums along the lanes of a vector, sigmoids, and numbers looked up by counts;
// see cpu_vectors.h.

namespace ordo::kernels::attention {
namespace {

// Lane i is the sum of the lanes from i on.
inline Vector SumsFromEnd(Vector x) {
  const Integers lane = Lanes();
#pragma GCC unroll 8
  for (int step = 1; step < kLanes; step *= 2) {
    x += lane < kLanes - step ? Permuted(x, lane + step) : Vector{};
  }
  return x;
}

// Lane i is the sum of the lanes up to i.
inline Vector SumsFromStart(Vector x) {
  const Integers lane = Lanes();
#pragma GCC unroll 8
  for (int step = 1; step < kLanes; step *= 2) {
    x += lane >= step ? Permuted(x, lane - step) : Vector{};
  }
  return x;
}

struct Opening {
  // sigmoid(x), and its derivative.
  Vector open;
  Vector rise;
};

// For x in base 2: of x ln(2).
inline Opening Open(Vector x) {
  const Vector small = Exp2(x < 0 ? x : -x);
  const Vector large = 1.0F / (small + 1.0F);
  const Vector least = small * large;
  return {x < 0 ? least : large, least * large};
}

// A count, in two parts so that it stays as exact as its first gates were.
struct Counter {
  int32_t whole;
  // 0 to 1.
  float part;
};

// Counts of a vector's keys less the whole of that of the next vector's first
// one: less than kLanes + 1, and falling by at most 1 from lane to lane.
struct Counts {
  int32_t whole;
  Vector more;

  Vector Total() const { return more + static_cast<float>(whole); }
};

// From gates; `counter` becomes the count of the vector's first key.
inline Counts Count(Vector gates, Counter* counter) {
  const Counts counts = {counter->whole, SumsFromEnd(gates) + counter->part};
  const float first = counts.more[0];
  const int32_t whole = static_cast<int32_t>(first);
  *counter = {counts.whole + whole, first - static_cast<float>(whole)};
  return counts;
}

// z of one query.
struct Term {
  // P numbers, and then kLanes times the last one; null: there is a slope.
  const float* numbers;
  // P - 1.
  int32_t last;
  float slope;

  // Whether z is constant from a count on.
  bool Ends(const Counter& from) const {
    return numbers != nullptr && from.whole >= last;
  }
};

// What is looked up.
struct Found {
  Vector value;
  // The derivative by the count.
  Vector rise;
  // `part` of the way from number `low` to the next.
  Integers low;
  Vector part;
};

// All numbers that a vector needs are the kLanes + 1 from its last lane's on.
// Rounding may break that by the last bit: there the line through the pair
// beside it is as good.
inline Found Find(const Term& term, const Counts& counts) {
  if (term.numbers == nullptr) {
    return {counts.Total() * term.slope, All(term.slope), Integers{}, Vector{}};
  }
  const Vector end = All(static_cast<float>(term.last - counts.whole));
  const Vector at = counts.more < end ? counts.more : end;
  const Integers below = __builtin_convertvector(at, Integers);
  const int32_t base = below[kLanes - 1];
  const Integers least = base - Integers{};
  const Integers most = least + (kLanes - 1);
  const Integers raised = below > least ? below : least;
  const Integers low = raised < most ? raised : most;
  const Vector part = at - __builtin_convertvector(low, Vector);
  const float* const numbers = term.numbers + counts.whole + base;
  const Vector first = Load(numbers);
  const Vector rise = Permuted(Load(numbers + 1) - first, low - base);
  return {Permuted(first, low - base) + part * rise, rise, low + counts.whole,
          part};
}

}  // namespace
}  // namespace ordo::kernels::attention

#endif  // ORDO_KERNELS_ATTENTION_CPU_COUNTED_LANES_H_
