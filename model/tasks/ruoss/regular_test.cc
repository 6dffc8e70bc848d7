#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/tasks/ruoss/items.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::ruoss {
namespace {

Item Draw(const std::string& task, int n, uint64_t index) {
  base::RandomSequence random(1, absl::StrCat("data/", index));
  return KindOf(task).draw(n, &random);
}

// `answer` of the input is the one output, for many inputs of many lengths, and
// takes all of `num_classes` values.
template <typename Answer>
void ExpectAnswers(const std::string& task, size_t num_classes, Answer answer) {
  std::set<int64_t> seen;
  for (int n = 1; n <= 40; ++n) {
    for (uint64_t index = 0; index < 20; ++index) {
      const Item item = Draw(task, n, index);
      ASSERT_EQ(item.output.size(), 1u);
      EXPECT_EQ(item.output[0], answer(item.input)) << task << n;
      seen.insert(item.output[0]);
    }
  }
  EXPECT_EQ(seen.size(), num_classes);
}

using Input = std::vector<int64_t>;

TEST(Regular, EvenPairsCountsNeighboursThatDiffer) {
  ExpectAnswers("even_pairs", 2, [](const Input& bits) {
    int64_t differ = 0;
    for (size_t i = 1; i < bits.size(); ++i) differ += bits[i] != bits[i - 1];
    return differ % 2;
  });
}

TEST(Regular, ParityCheckCountsOnes) {
  ExpectAnswers("parity_check", 2, [](const Input& bits) {
    int64_t sum = 0;
    for (const int64_t bit : bits) sum += bit;
    return sum % 2;
  });
}

TEST(Regular, CycleNavigationEndsWhereTheMovesLead) {
  ExpectAnswers("cycle_navigation", 5, [](const Input& moves) {
    int64_t place = 1000;
    for (const int64_t move : moves) place += move - 1;
    return place % 5;
  });
}

// Products of the digits between + and -, in whole numbers.
int64_t Evaluate(const Input& input) {
  int64_t sum = 0, sign = 1, product = input[0];
  for (size_t i = 1; i < input.size(); i += 2) {
    const int64_t digit = input[i + 1];
    if (input[i] == kTimes) {
      product *= digit;
    } else {
      sum += sign * product;
      sign = input[i] == kPlus ? 1 : -1;
      product = digit;
    }
  }
  return ((sum + sign * product) % 5 + 5) % 5;
}

// By hand: 1 + 2 * 3 = 7, 1 - 1 - 1 = -1 and 0 * 1 + 4 * 3 - 2 = 10, mod 5.
TEST(Regular, TheEvaluationIsTheOneThatIsPublished) {
  EXPECT_EQ(Evaluate({1, kPlus, 2, kTimes, 3}), 2);
  EXPECT_EQ(Evaluate({1, kMinus, 1, kMinus, 1}), 4);
  EXPECT_EQ(Evaluate({0, kTimes, 1, kPlus, 4, kTimes, 3, kMinus, 2}), 0);
}

TEST(Regular, ModularArithmeticMultipliesFirst) {
  std::set<int64_t> operations;
  ExpectAnswers("modular_arithmetic", 5, [&](const Input& input) {
    EXPECT_EQ(input.size() % 2, 1u);
    for (size_t i = 0; i < input.size(); ++i) {
      if (i % 2 == 0) {
        EXPECT_LT(input[i], 5);
      } else {
        operations.insert(input[i]);
      }
    }
    // Products of twenty digits do not overflow.
    return Evaluate(input);
  });
  EXPECT_EQ(operations, (std::set<int64_t>{kPlus, kMinus, kTimes}));
}

TEST(Regular, WhatInputsAreMadeOfIsUniform) {
  const struct {
    const char* task;
    size_t numbers;
    size_t operations;
  } cases[] = {{"even_pairs", 2, 0},
               {"parity_check", 2, 0},
               {"cycle_navigation", 3, 0},
               {"modular_arithmetic", 5, 3}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.task);
    std::map<int64_t, int64_t> numbers, operations;
    for (uint64_t index = 0; index < 200; ++index) {
      for (const int64_t symbol : Draw(one.task, 15, index).input) {
        ++(symbol < 5 ? numbers : operations)[symbol];
      }
    }
    testing::ExpectEven(one.numbers, numbers);
    EXPECT_EQ(operations.size(), one.operations);
    if (one.operations > 0) testing::ExpectEven(one.operations, operations);
  }
}

}  // namespace
}  // namespace ordo::model::tasks::ruoss
