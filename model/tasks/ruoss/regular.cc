#include <algorithm>
#include <utility>

#include "model/tasks/ruoss/items.h"

// Tasks that a finite automaton can do.

namespace ordo::model::tasks::ruoss {
namespace {

constexpr int kModulus = 5;

// The greatest odd number up to n.
int Odd(int n) { return n - (n + 1) % 2; }

// 0 where the number of neighbours that differ is even.
Item EvenPairs(int n, base::RandomSequence* random) {
  std::vector<int64_t> bits = DrawDigits(n, 2, random);
  const int64_t odd = bits.front() != bits.back() ? 1 : 0;
  return AllMeasured(std::move(bits), {odd});
}

// Digits and + - * without brackets. There is none of even length: the next
// shorter one is taken.
Item ModularArithmetic(int n, base::RandomSequence* random) {
  std::vector<int64_t> input = DrawDigits(1, kModulus, random);
  // The value is sum + sign * product, whose last factor was just read.
  int64_t sum = 0, sign = 1, product = input[0];
  while (static_cast<int>(input.size()) + 2 <= n) {
    const int64_t operation = kPlus + static_cast<int64_t>(random->Int(3));
    const auto digit = static_cast<int64_t>(random->Int(kModulus));
    input.push_back(operation);
    input.push_back(digit);
    if (operation == kTimes) {
      product = product * digit % kModulus;
      continue;
    }
    sum = (sum + sign * product) % kModulus;
    sign = operation == kPlus ? 1 : -1;
    product = digit;
  }
  const int64_t value = (sum + sign * product) % kModulus;
  return AllMeasured(std::move(input), {(value + kModulus) % kModulus});
}

Item ParityCheck(int n, base::RandomSequence* random) {
  std::vector<int64_t> bits = DrawDigits(n, 2, random);
  const int64_t odd = std::count(bits.begin(), bits.end(), 1) % 2;
  return AllMeasured(std::move(bits), {odd});
}

// Moves 0, 1 and 2 go back, nowhere and on, on a cycle of five places.
Item CycleNavigation(int n, base::RandomSequence* random) {
  std::vector<int64_t> moves = DrawDigits(n, 3, random);
  int64_t place = 0;
  for (const int64_t move : moves)
    place = (place + move + kModulus - 1) % kModulus;
  return AllMeasured(std::move(moves), {place});
}

}  // namespace

const std::vector<Kind>& RegularKinds() {
  static const auto* const kinds = new std::vector<Kind>{
      {"even_pairs", EvenPairs, Same, One},
      {"modular_arithmetic", ModularArithmetic, Odd, One},
      {"parity_check", ParityCheck, Same, One},
      {"cycle_navigation", CycleNavigation, Same, One},
  };
  return *kinds;
}

}  // namespace ordo::model::tasks::ruoss
