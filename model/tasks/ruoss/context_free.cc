#include <algorithm>
#include <utility>

#include "model/tasks/ruoss/items.h"

// Tasks that an automaton with a stack can do.

namespace ordo::model::tasks::ruoss {
namespace {

constexpr int kModulus = 5;

// What is done with the stack, beside its bits 0 and 1.
constexpr int64_t kPop = 2;
constexpr int64_t kPushZero = 3;

// A stack, bottom first, and what is done with it; the stack that is left, top
// first. One symbol alone is a stack.
Item StackManipulation(int n, base::RandomSequence* random) {
  const int height = n == 1 ? 1 : 1 + static_cast<int>(random->Int(n - 1));
  std::vector<int64_t> input = DrawDigits(height, 2, random);
  std::vector<int64_t> stack = input;
  for (int i = height; i < n; ++i) {
    const int64_t action = kPop + static_cast<int64_t>(random->Int(3));
    input.push_back(action);
    if (action != kPop) {
      stack.push_back(action - kPushZero);
    } else if (!stack.empty()) {
      stack.pop_back();
    }
  }
  std::reverse(stack.begin(), stack.end());
  return Marked(std::move(input), std::move(stack), OneMore(n));
}

Item ReverseString(int n, base::RandomSequence* random) {
  std::vector<int64_t> bits = DrawDigits(n, 2, random);
  std::vector<int64_t> reversed(bits.rbegin(), bits.rend());
  return AllMeasured(std::move(bits), std::move(reversed));
}

struct Expression {
  std::vector<int64_t> symbols;
  int64_t value = 0;
};

// d, -d, (d) or (-d).
Expression DrawLeaf(int n, base::RandomSequence* random) {
  const auto digit = static_cast<int64_t>(random->Int(kModulus));
  Expression leaf;
  if (n >= 3) leaf.symbols.push_back(kOpen);
  if (n % 2 == 0) leaf.symbols.push_back(kMinus);
  leaf.symbols.push_back(digit);
  if (n >= 3) leaf.symbols.push_back(kClose);
  leaf.value = n % 2 == 0 ? (kModulus - digit) % kModulus : digit;
  return leaf;
}

// An expression of n symbols: a leaf of up to four, or two expressions, whose
// lengths are uniform, in brackets around one of `num_operations` of + - *.
Expression DrawExpression(int n, int num_operations,
                          base::RandomSequence* random) {
  if (n <= 4) return DrawLeaf(n, random);
  const int num_left = 1 + static_cast<int>(random->Int(n - 4));
  const Expression left = DrawExpression(num_left, num_operations, random);
  const Expression right =
      DrawExpression(n - 3 - num_left, num_operations, random);
  const int64_t operation =
      kPlus + static_cast<int64_t>(random->Int(num_operations));
  Expression whole;
  whole.symbols.push_back(kOpen);
  whole.symbols.insert(whole.symbols.end(), left.symbols.begin(),
                       left.symbols.end());
  whole.symbols.push_back(operation);
  whole.symbols.insert(whole.symbols.end(), right.symbols.begin(),
                       right.symbols.end());
  whole.symbols.push_back(kClose);
  const int64_t value = operation == kPlus    ? left.value + right.value
                        : operation == kMinus ? left.value - right.value
                                              : left.value * right.value;
  whole.value = (value + kModulus) % kModulus;
  return whole;
}

Item ModularArithmeticBrackets(int n, base::RandomSequence* random) {
  Expression expression = DrawExpression(n, /*num_operations=*/3, random);
  return AllMeasured(std::move(expression.symbols), {expression.value});
}

// An expression of + and -, one of whose digits is hidden, and its value. The
// digit is the first at or after a uniform place, around the end if need be.
// Shorter than an equation can be: zeros.
Item SolveEquation(int n, base::RandomSequence* random) {
  if (n < 3) return AllMeasured(std::vector<int64_t>(n, 0), {0});
  Expression expression = DrawExpression(n - 2, /*num_operations=*/2, random);
  auto& symbols = expression.symbols;
  size_t place = random->Int(symbols.size());
  while (symbols[place] >= kModulus) place = (place + 1) % symbols.size();
  const int64_t hidden = symbols[place];
  symbols[place] = kUnknownDigit;
  symbols.push_back(kEquals);
  symbols.push_back(expression.value);
  return AllMeasured(std::move(symbols), {hidden});
}

}  // namespace

const std::vector<Kind>& ContextFreeKinds() {
  static const auto* const kinds = new std::vector<Kind>{
      {"stack_manipulation", StackManipulation, Same, OneMore},
      {"reverse_string", ReverseString, Same, Same},
      {"modular_arithmetic_brackets", ModularArithmeticBrackets, Same, One},
      {"solve_equation", SolveEquation, Same, One},
  };
  return *kinds;
}

}  // namespace ordo::model::tasks::ruoss
