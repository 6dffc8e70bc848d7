#include <algorithm>
#include <utility>

#include "model/tasks/ruoss/items.h"

// Tasks that need more than a stack.

namespace ordo::model::tasks::ruoss {
namespace {

using Bits = std::vector<int64_t>;

constexpr int kSortedDigits = 5;
// Between two numbers; in the place of a bit that is missing; after strings of
// odd length.
constexpr int64_t kSeparator = 2;
constexpr int64_t kPlaceholder = 2;
constexpr int64_t kFiller = 3;

int Twice(int n) { return 2 * n; }
int HalfUp(int n) { return (n + 1) / 2; }

Item DuplicateString(int n, base::RandomSequence* random) {
  Bits bits = DrawDigits(n, 2, random);
  Bits twice = bits;
  twice.insert(twice.end(), bits.begin(), bits.end());
  return AllMeasured(std::move(bits), std::move(twice));
}

// One symbol is too short for two strings: 1 and 1.
Item MissingDuplicate(int n, base::RandomSequence* random) {
  if (n == 1) return AllMeasured({1}, {1});
  const Bits bits = DrawDigits(n / 2, 2, random);
  Bits input = bits;
  input.insert(input.end(), bits.begin(), bits.end());
  const size_t place = random->Int(input.size());
  const int64_t missing = std::exchange(input[place], kPlaceholder);
  if (n % 2 != 0) input.push_back(kFiller);
  return AllMeasured(std::move(input), {missing});
}

// Counted from zero: the second, the fourth and so on, then the others.
Item OddsFirst(int n, base::RandomSequence* random) {
  Bits bits = DrawDigits(n, 2, random);
  Bits output;
  for (const int first : {1, 0}) {
    for (int i = first; i < n; i += 2) output.push_back(bits[i]);
  }
  return AllMeasured(std::move(bits), std::move(output));
}

// Of a number, lowest bit first, without zeros at the high end; 0 is one zero.
void DropHighZeros(Bits* bits) {
  while (bits->size() > 1 && bits->back() == 0) bits->pop_back();
}

// Uniform among the numbers of up to `count` bits but 0; lowest bit first.
Bits DrawNumber(int count, base::RandomSequence* random) {
  constexpr int kWord = 60;
  Bits bits;
  if (count <= kWord) {
    const uint64_t number = 1 + random->Int((uint64_t{1} << count) - 1);
    for (int i = 0; i < count; ++i) {
      bits.push_back(static_cast<int64_t>((number >> i) & 1));
    }
    return bits;
  }
  bits = DrawDigits(count, 2, random);
  // Zero, of which the chance is 2^-61 at most, becomes one.
  if (std::find(bits.begin(), bits.end(), 1) == bits.end()) bits[0] = 1;
  return bits;
}

struct Pair {
  // Both with a separator between them.
  Bits input;
  Bits a;
  Bits b;
};

Pair DrawPair(int n, base::RandomSequence* random) {
  const int num_a = 1 + static_cast<int>(random->Int(n - 2));
  Pair pair;
  pair.a = DrawNumber(num_a, random);
  pair.b = DrawNumber(n - 1 - num_a, random);
  pair.input = pair.a;
  pair.input.push_back(kSeparator);
  pair.input.insert(pair.input.end(), pair.b.begin(), pair.b.end());
  return pair;
}

// What there is of two symbols or one, which are too few for two numbers: 0, 1
// or 2 below 2^n - 1, lowest bit first.
Bits DrawShort(int n, base::RandomSequence* random) {
  const uint64_t number = random->Int((uint64_t{1} << n) - 1);
  Bits bits;
  for (int i = 0; i < n; ++i) {
    bits.push_back(static_cast<int64_t>((number >> i) & 1));
  }
  return bits;
}

Item BinaryAddition(int n, base::RandomSequence* random) {
  if (n <= 2) {
    Bits input = DrawShort(n, random);
    Bits output = input;
    DropHighZeros(&output);
    return Marked(std::move(input), std::move(output), OneMore(n));
  }
  Pair pair = DrawPair(n, random);
  Bits sum;
  int64_t carry = 0;
  for (size_t i = 0; i < std::max(pair.a.size(), pair.b.size()); ++i) {
    const int64_t total = carry + (i < pair.a.size() ? pair.a[i] : 0) +
                          (i < pair.b.size() ? pair.b[i] : 0);
    sum.push_back(total % 2);
    carry = total / 2;
  }
  sum.push_back(carry);
  DropHighZeros(&sum);
  return Marked(std::move(pair.input), std::move(sum), OneMore(n));
}

// Short inputs have zeros in the place of a product.
Item BinaryMultiplication(int n, base::RandomSequence* random) {
  if (n <= 2) return Marked(DrawShort(n, random), Bits(n - 1, 0), n);
  Pair pair = DrawPair(n, random);
  Bits product(pair.a.size() + pair.b.size(), 0);
  for (size_t i = 0; i < pair.a.size(); ++i) {
    if (pair.a[i] == 0) continue;
    int64_t carry = 0;
    for (size_t j = 0; j < pair.b.size() || carry != 0; ++j) {
      const int64_t total =
          product[i + j] + carry + (j < pair.b.size() ? pair.b[j] : 0);
      product[i + j] = total % 2;
      carry = total / 2;
    }
  }
  DropHighZeros(&product);
  return Marked(std::move(pair.input), std::move(product), Same(n));
}

// Whether a >= b, and a - b; highest bit first, of one length.
bool AtLeast(const Bits& a, const Bits& b) {
  return !std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

void Subtract(Bits* a, const Bits& b) {
  int64_t borrow = 0;
  for (size_t i = a->size(); i-- > 0;) {
    int64_t difference = (*a)[i] - b[i] - borrow;
    borrow = difference < 0 ? 1 : 0;
    (*a)[i] = difference + 2 * borrow;
  }
}

// The root, bit by bit: with two more bits of the number brought down, 1 is
// the next bit if the root so far with 01 behind it can be taken away.
Bits RootOf(Bits number) {
  if (number.size() % 2 != 0) number.insert(number.begin(), 0);
  Bits root;
  // As long as the rest ever gets, and as what is taken away from it.
  const size_t width = number.size() / 2 + 2;
  Bits rest(width, 0);
  for (size_t i = 0; i < number.size(); i += 2) {
    rest.erase(rest.begin(), rest.begin() + 2);
    rest.push_back(number[i]);
    rest.push_back(number[i + 1]);
    Bits taken = root;
    taken.push_back(0);
    taken.push_back(1);
    taken.insert(taken.begin(), width - taken.size(), 0);
    const bool fits = AtLeast(rest, taken);
    if (fits) Subtract(&rest, taken);
    root.push_back(fits ? 1 : 0);
  }
  return root;
}

// Highest bit first.
Item SquareRoot(int n, base::RandomSequence* random) {
  Bits number = DrawNumber(n, random);
  std::reverse(number.begin(), number.end());
  Bits root = RootOf(number);
  return AllMeasured(std::move(number), std::move(root));
}

Item BucketSort(int n, base::RandomSequence* random) {
  Bits digits = DrawDigits(n, kSortedDigits, random);
  Bits sorted = digits;
  std::sort(sorted.begin(), sorted.end());
  return AllMeasured(std::move(digits), std::move(sorted));
}

}  // namespace

const std::vector<Kind>& ContextSensitiveKinds() {
  static const auto* const kinds = new std::vector<Kind>{
      {"duplicate_string", DuplicateString, Same, Twice},
      {"missing_duplicate", MissingDuplicate, Same, One},
      {"odds_first", OddsFirst, Same, Same},
      {"binary_addition", BinaryAddition, Same, OneMore},
      {"binary_multiplication", BinaryMultiplication, Same, Same},
      {"square_root", SquareRoot, Same, HalfUp},
      {"bucket_sort", BucketSort, Same, Same},
  };
  return *kinds;
}

}  // namespace ordo::model::tasks::ruoss
