#include "model/tasks/bitwise_or.h"

#include <algorithm>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

std::string Text(const std::vector<int64_t>& tokens) {
  return ArithmeticTokenizer().Decode(tokens);
}

// By hand: the one bit stands in the same place of the answer.
TEST(BitwiseOr, FirstQuestionsAreFrozen) {
  std::vector<std::string> rows;
  for (const auto& [i, j] :
       {std::pair(3, 5), std::pair(5, 3), std::pair(4, 4)}) {
    base::RandomSequence random(1, "data/0");
    const Question question = BitwiseOr().draw(i, j, &random);
    EXPECT_EQ(question.answer.back(), kEnd);
    rows.push_back(Text(question.prompt) + Text(question.answer));
  }
  EXPECT_THAT(rows, ElementsAre("100+00000=10000", "00000+100=10000",
                                "1000+0000=1000"));
}

TEST(BitwiseOr, AnswersAreOneWhereAnOperandIs) {
  std::map<std::string, int> operands;
  for (int i = 1; i <= 6; ++i) {
    for (int j = 1; j <= 6; ++j) {
      for (int k = 0; k < 20; ++k) {
        base::RandomSequence random(k, "data/1");
        const Question question = BitwiseOr().draw(i, j, &random);
        const std::string prompt = Text(question.prompt);
        ASSERT_EQ(static_cast<int>(question.prompt.size()),
                  BitwiseOr().prompt_length(i, j));
        ASSERT_EQ(static_cast<int>(question.answer.size()),
                  BitwiseOr().answer_length(i, j));
        const size_t plus = prompt.find('+');
        std::string a = prompt.substr(0, plus);
        std::string b = prompt.substr(plus + 1, j);
        EXPECT_EQ(static_cast<int>(plus), i);
        EXPECT_EQ(std::count(prompt.begin(), prompt.end(), '1'), 1);
        if (i == j) ++operands[a.find('1') == std::string::npos ? "b" : "a"];
        a.resize(std::max(i, j), '0');
        b.resize(std::max(i, j), '0');
        std::string either = a;
        for (size_t t = 0; t < a.size(); ++t) {
          if (b[t] == '1') either[t] = '1';
        }
        EXPECT_EQ(Text(question.answer), either);
      }
    }
  }
  // 120 of equal lengths; standard deviation 5.5, six of them.
  EXPECT_NEAR(operands["a"], 60, 33);
}

// Of the shorter string's places, and in it.
TEST(BitwiseOr, TheOneBitIsAtAnyPlaceThatBothHave) {
  for (const auto& [i, j] : {std::pair(4, 9), std::pair(9, 4)}) {
    std::map<size_t, int64_t> places;
    for (uint64_t k = 0; k < 400; ++k) {
      base::RandomSequence random(k, "data/2");
      const std::string prompt = Text(BitwiseOr().draw(i, j, &random).prompt);
      const size_t shorter = i < j ? 0 : 10;
      ++places[prompt.find('1') - shorter];
    }
    testing::ExpectEven(4, places);
    EXPECT_EQ(places.rbegin()->first, 3u);
  }
}

}  // namespace
}  // namespace ordo::model::tasks
