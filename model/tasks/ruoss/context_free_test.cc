#include <algorithm>
#include <map>
#include <set>
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

Item Draw(const std::string& task, int n, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return KindOf(task).draw(n, &random);
}

// Reads an expression of the grammar: a digit, - and a digit, brackets around
// either, or around two expressions with an operation between them.
class Reader {
 public:
  explicit Reader(std::vector<int64_t> symbols)
      : symbols_(std::move(symbols)) {}

  // Of all the symbols; mod 5.
  int64_t Value() {
    const int64_t value = Read();
    EXPECT_EQ(place_, symbols_.size());
    return (value % 5 + 5) % 5;
  }

 private:
  int64_t Next() { return symbols_.at(place_++); }

  int64_t Read() {
    const int64_t symbol = Next();
    if (symbol < 5) return symbol;
    if (symbol == kMinus) return -Next();
    EXPECT_EQ(symbol, kOpen);
    const int64_t left = Read() % 5;
    const int64_t operation = Next();
    if (operation == kClose) return left;
    const int64_t right = Read() % 5;
    EXPECT_EQ(Next(), kClose);
    if (operation == kPlus) return left + right;
    if (operation == kMinus) return left - right;
    EXPECT_EQ(operation, kTimes);
    return left * right;
  }

  const std::vector<int64_t> symbols_;
  size_t place_ = 0;
};

// By hand: ((-3) * (1 + 4)) = -15 and (2 - -4) = 6.
TEST(ContextFree, TheReaderOfThisTestCanCount) {
  EXPECT_EQ(Reader({kOpen, kOpen, kMinus, 3, kClose, kTimes, kOpen, 1, kPlus, 4,
                    kClose, kClose})
                .Value(),
            0);
  EXPECT_EQ(Reader({kOpen, 2, kMinus, kMinus, 4, kClose}).Value(), 1);
}

TEST(ContextFree, BracketedExpressionsHaveTheirValue) {
  std::set<int64_t> values, symbols;
  for (int n = 1; n <= 60; ++n) {
    for (uint64_t index = 0; index < 10; ++index) {
      const Item item = Draw("modular_arithmetic_brackets", n, index);
      EXPECT_EQ(Reader(item.input).Value(), item.output[0]);
      values.insert(item.output[0]);
      symbols.insert(item.input.begin(), item.input.end());
    }
  }
  EXPECT_EQ(values.size(), 5u);
  EXPECT_EQ(symbols.size(), 10u);
}

TEST(ContextFree, EquationsHoldWithTheirSolution) {
  for (int n = 3; n <= 60; ++n) {
    for (uint64_t index = 0; index < 10; ++index) {
      const Item item = Draw("solve_equation", n, index);
      std::vector<int64_t> left = item.input;
      EXPECT_EQ(std::count(left.begin(), left.end(), kUnknownDigit), 1);
      EXPECT_EQ(std::count(left.begin(), left.end(), kTimes), 0);
      const int64_t value = left.back();
      left.pop_back();
      EXPECT_EQ(left.back(), kEquals);
      left.pop_back();
      std::replace(left.begin(), left.end(), int64_t{kUnknownDigit},
                   item.output[0]);
      EXPECT_EQ(Reader(left).Value(), value);
    }
  }
  EXPECT_THAT(Draw("solve_equation", 2, 0).input, ::testing::ElementsAre(0, 0));
}

// As it is defined, from the bottom, in another way than the task's.
TEST(ContextFree, StacksAreWhatIsLeftOfThem) {
  for (int n = 1; n <= 50; ++n) {
    for (uint64_t index = 0; index < 20; ++index) {
      const Item item = Draw("stack_manipulation", n, index);
      std::string stack;
      bool acting = false;
      for (const int64_t symbol : item.input) {
        if (symbol >= 2) {
          acting = true;
        } else {
          EXPECT_FALSE(acting) << "the stack comes first";
        }
        if (symbol == 2) {
          if (!stack.empty()) stack.erase(0, 1);
        } else {
          stack.insert(0, 1, symbol % 3 == 0 ? '0' : '1');
        }
      }
      std::string output;
      for (const int64_t symbol : item.output) absl::StrAppend(&output, symbol);
      const std::string expected = stack + "2";
      EXPECT_EQ(output, expected + std::string(n + 1 - expected.size(), '0'));
      EXPECT_EQ(item.num_measured, expected.size());
      EXPECT_LE(item.input[0], 1);
    }
  }
}

TEST(ContextFree, HeightsOfStacksAndActionsAreUniform) {
  std::map<int64_t, int64_t> heights, bits, actions;
  for (uint64_t index = 0; index < 1000; ++index) {
    const Item item = Draw("stack_manipulation", 9, index);
    int64_t height = 0;
    for (const int64_t symbol : item.input) {
      height += symbol < 2 ? 1 : 0;
      ++(symbol < 2 ? bits : actions)[symbol];
    }
    ++heights[height];
  }
  testing::ExpectEven(8, heights);
  EXPECT_EQ(heights.begin()->first, 1);
  testing::ExpectEven(2, bits);
  testing::ExpectEven(3, actions);
}

// Symbols of the expression that `symbols` has from `begin` on.
size_t SizeOf(const std::vector<int64_t>& symbols, size_t begin) {
  size_t end = begin;
  int open = 0;
  do {
    // The digit belongs to its sign.
    if (open == 0 && symbols[end] == kMinus) ++end;
    open += symbols[end] == kOpen ? 1 : symbols[end] == kClose ? -1 : 0;
    ++end;
  } while (open > 0);
  return end - begin;
}

// Of twelve symbols, three of which are brackets and the operation, the left
// side has one to eight.
TEST(ContextFree, SidesAndOperationsOfExpressionsAreUniform) {
  for (const auto& [task, num_operations] :
       {std::pair("modular_arithmetic_brackets", 3),
        std::pair("solve_equation", 2)}) {
    SCOPED_TRACE(task);
    std::map<size_t, int64_t> sizes;
    std::map<int64_t, int64_t> operations;
    for (uint64_t index = 0; index < 800; ++index) {
      // An equation ends in = and the value.
      const Item item = Draw(task, num_operations == 2 ? 14 : 12, index);
      const size_t size = SizeOf(item.input, 1);
      ++sizes[size];
      ++operations[item.input[1 + size]];
    }
    testing::ExpectEven(8, sizes);
    testing::ExpectEven(static_cast<size_t>(num_operations), operations);
  }
}

TEST(ContextFree, StringsComeBackReversed) {
  const Item item = Draw("reverse_string", 30, 1);
  EXPECT_TRUE(std::equal(item.input.begin(), item.input.end(),
                         item.output.rbegin(), item.output.rend()));
}

}  // namespace
}  // namespace ordo::model::tasks::ruoss
