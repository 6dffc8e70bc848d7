#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/ruoss/items.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::ruoss {
namespace {

using ::testing::ElementsAre;
using Symbols = std::vector<int64_t>;
__extension__ using Wide = unsigned __int128;

Item Draw(const std::string& task, int n, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return KindOf(task).draw(n, &random);
}

// Lowest bit first.
uint64_t Number(Symbols::const_iterator begin, Symbols::const_iterator end) {
  uint64_t number = 0;
  while (end != begin) number = 2 * number + static_cast<uint64_t>(*--end);
  return number;
}

// The number before the end mark; 0 has one digit, others no zeros above.
uint64_t Result(const Item& item) {
  const auto end = item.output.begin() + item.num_measured - 1;
  EXPECT_EQ(*end, 2);
  EXPECT_TRUE(end == item.output.begin() + 1 || *(end - 1) == 1);
  EXPECT_TRUE(std::all_of(end + 1, item.output.end(),
                          [](int64_t filler) { return filler == 0; }));
  return Number(item.output.begin(), end);
}

std::pair<uint64_t, uint64_t> Operands(const Item& item) {
  const auto separator = std::find(item.input.begin(), item.input.end(), 2);
  return {Number(item.input.begin(), separator),
          Number(separator + 1, item.input.end())};
}

TEST(ContextSensitive, SumsAreRight) {
  for (int n = 3; n <= 60; ++n) {
    for (uint64_t index = 0; index < 20; ++index) {
      const Item item = Draw("binary_addition", n, index);
      const auto [a, b] = Operands(item);
      EXPECT_GT(a, 0u);
      EXPECT_GT(b, 0u);
      EXPECT_EQ(Result(item), a + b);
    }
  }
}

TEST(ContextSensitive, ProductsAreRight) {
  for (int n = 3; n <= 60; ++n) {
    for (uint64_t index = 0; index < 20; ++index) {
      const Item item = Draw("binary_multiplication", n, index);
      const auto [a, b] = Operands(item);
      EXPECT_EQ(Result(item), a * b);
    }
  }
}

// Far beyond the words of a machine.
TEST(ContextSensitive, LongProductsAreRightModuloAPrime) {
  constexpr uint64_t kPrime = 1'000'000'007;
  const auto modulo = [](Symbols::const_iterator begin,
                         Symbols::const_iterator end) {
    uint64_t number = 0;
    while (end != begin) {
      number = (2 * number + static_cast<uint64_t>(*--end)) % kPrime;
    }
    return number;
  };
  for (uint64_t index = 0; index < 30; ++index) {
    const Item item = Draw("binary_multiplication", 400, index);
    const auto separator = std::find(item.input.begin(), item.input.end(), 2);
    const uint64_t a = modulo(item.input.begin(), separator);
    const uint64_t b = modulo(separator + 1, item.input.end());
    EXPECT_EQ(modulo(item.output.begin(),
                     item.output.begin() + item.num_measured - 1),
              a * b % kPrime);
  }
}

TEST(ContextSensitive, LengthsOfOperandsAreUniform) {
  for (const char* task : {"binary_addition", "binary_multiplication"}) {
    std::map<int64_t, int64_t> counts;
    for (uint64_t index = 0; index < 1500; ++index) {
      const Item item = Draw(task, 11, index);
      ++counts[std::find(item.input.begin(), item.input.end(), 2) -
               item.input.begin()];
    }
    testing::ExpectEven(9, counts);
  }
}

// From 1 on: of four bits 15, of two bits each of two operands.
TEST(ContextSensitive, NumbersAreUniform) {
  std::map<uint64_t, int64_t> squares;
  std::map<std::pair<uint64_t, uint64_t>, int64_t> operands;
  for (uint64_t index = 0; index < 1500; ++index) {
    const Symbols bits = Draw("square_root", 4, index).input;
    ++squares[Number(bits.begin(), bits.end())];
    const Item sum = Draw("binary_addition", 5, index);
    if (sum.input[2] == 2) ++operands[Operands(sum)];
  }
  testing::ExpectEven(15, squares);
  testing::ExpectEven(9, operands);
}

TEST(ContextSensitive, AnyBitOfADuplicateMayBeMissing) {
  for (const int n : {10, 11}) {
    std::map<int64_t, int64_t> places;
    for (uint64_t index = 0; index < 600; ++index) {
      const Item item = Draw("missing_duplicate", n, index);
      ++places[std::find(item.input.begin(), item.input.end(), 2) -
               item.input.begin()];
    }
    testing::ExpectEven(10, places);
  }
}

// Highest bit first: 37 is 100101 and its root 6, 110.
TEST(ContextSensitive, RootsAreTheGreatestWhoseSquareIsNotAbove) {
  bool seen_37 = false;
  for (int n = 1; n <= 62; ++n) {
    for (uint64_t index = 0; index < 60; ++index) {
      Item item = Draw("square_root", n, index);
      const bool is_37 = item.input == Symbols{1, 0, 0, 1, 0, 1};
      if (is_37) {
        EXPECT_THAT(item.output, ElementsAre(1, 1, 0));
      }
      seen_37 = seen_37 || is_37;
      std::reverse(item.input.begin(), item.input.end());
      std::reverse(item.output.begin(), item.output.end());
      const uint64_t number = Number(item.input.begin(), item.input.end());
      const uint64_t root = Number(item.output.begin(), item.output.end());
      EXPECT_GT(number, 0u);
      EXPECT_LE(Wide{root} * root, number) << n;
      EXPECT_GT(Wide{root + 1} * (root + 1), number) << n;
    }
  }
  EXPECT_TRUE(seen_37);
}

// With a square that is taken away bit by bit.
TEST(ContextSensitive, RootsOfLongNumbersAreRightToo) {
  const auto subtract_square = [](const Symbols& root, Symbols* number) {
    // Lowest bit first; number - root * root, which does not go below 0.
    for (size_t i = 0; i < root.size(); ++i) {
      if (root[i] == 0) continue;
      int64_t borrow = 0;
      for (size_t j = 0; i + j < number->size(); ++j) {
        int64_t& bit = (*number)[i + j];
        bit -= borrow + (j < root.size() ? root[j] : 0);
        borrow = bit < 0 ? 1 : 0;
        bit += 2 * borrow;
      }
      EXPECT_EQ(borrow, 0);
    }
  };
  for (uint64_t index = 0; index < 10; ++index) {
    Item item = Draw("square_root", 499, index);
    std::reverse(item.input.begin(), item.input.end());
    std::reverse(item.output.begin(), item.output.end());
    Symbols rest = item.input;
    subtract_square(item.output, &rest);
    // What is left is at most twice the root.
    Symbols twice = item.output;
    twice.insert(twice.begin(), 0);
    twice.resize(rest.size(), 0);
    EXPECT_FALSE(std::lexicographical_compare(twice.rbegin(), twice.rend(),
                                              rest.rbegin(), rest.rend()));
  }
}

TEST(ContextSensitive, DuplicatesHaveTheMissingBit) {
  for (int n = 2; n <= 31; ++n) {
    Item item = Draw("missing_duplicate", n, n);
    if (n % 2 == 1) {
      EXPECT_EQ(item.input.back(), 3);
      item.input.pop_back();
    }
    const auto hole = std::find(item.input.begin(), item.input.end(), 2);
    ASSERT_NE(hole, item.input.end());
    *hole = item.output[0];
    const size_t half = item.input.size() / 2;
    EXPECT_TRUE(std::equal(item.input.begin(), item.input.begin() + half,
                           item.input.begin() + half));
  }
  EXPECT_THAT(Draw("missing_duplicate", 1, 0).input, ElementsAre(1));
}

TEST(ContextSensitive, StringsComeTwice) {
  const Item item = Draw("duplicate_string", 9, 0);
  EXPECT_TRUE(
      std::equal(item.input.begin(), item.input.end(), item.output.begin()));
  EXPECT_TRUE(std::equal(item.input.begin(), item.input.end(),
                         item.output.begin() + 9));
}

// 00110101 gives 0111 and 0100: places are counted from zero, as in the
// authors' code.
TEST(ContextSensitive, OddPlacesCountedFromZeroComeFirst) {
  for (int n = 1; n <= 20; ++n) {
    const Item item = Draw("odds_first", n, n);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(item.output[i % 2 == 1 ? i / 2 : n / 2 + i / 2], item.input[i]);
    }
  }
}

TEST(ContextSensitive, BucketsAreSorted) {
  Item item = Draw("bucket_sort", 50, 0);
  EXPECT_TRUE(std::is_sorted(item.output.begin(), item.output.end()));
  std::sort(item.input.begin(), item.input.end());
  EXPECT_EQ(item.input, item.output);
  EXPECT_EQ(item.output.front(), 0);
  EXPECT_EQ(item.output.back(), 4);
}

TEST(ContextSensitive, ShortInputsHaveTheAuthorsOutputs) {
  EXPECT_THAT(Draw("binary_addition", 1, 0).output, ElementsAre(0, 2));
  EXPECT_THAT(Draw("binary_multiplication", 1, 0).output, ElementsAre(2));
  EXPECT_THAT(Draw("binary_multiplication", 2, 0).output, ElementsAre(0, 2));
}

}  // namespace
}  // namespace ordo::model::tasks::ruoss
