#include "model/tasks/sorting.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

Question Draw(int max_digits, int count, uint64_t seed) {
  base::RandomSequence random(seed, "data/0");
  return Sorting().draw(max_digits, count, &random);
}

std::string Text(const std::vector<int64_t>& tokens) {
  return Sorting().make_tokenizer()->Decode(tokens);
}

// By hand: 4, 5 and 7 are the numbers of F, D and E.
TEST(Sorting, FirstQuestionsAreFrozen) {
  std::vector<std::string> rows;
  for (const auto& [max_digits, count] : {std::pair(2, 3), std::pair(1, 2)}) {
    const Question question = Draw(max_digits, count, 1);
    rows.push_back(Text(question.prompt) + " " + Text(question.answer));
  }
  EXPECT_THAT(rows, ElementsAre("D : 5 , E : 7 , F : 4 = F , D , E",
                                "D : 5 , E : 7 = D , E"));
}

// Labels and numbers of a prompt, whose labels are one character in most rows;
// `, : and =` as labels are left out.
TEST(Sorting, AnswersAreTheLabelsInTheOrderOfTheirNumbers) {
  int num_read = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Question question = Draw(3, 6, seed);
    const std::string prompt = Text(question.prompt);
    std::istringstream words(prompt);
    std::vector<std::pair<int, std::string>> numbers;
    std::set<std::string> labels;
    std::string word, label;
    int number = 0, place = 1;
    while (words >> word) {
      if (label.empty()) {
        label = word;
        words >> word;
        ASSERT_EQ(word, ":") << prompt;
      } else if (word == "," || word == "=") {
        numbers.emplace_back(number, label);
        labels.insert(label);
        label.clear();
        number = 0;
        place = 1;
      } else {
        number += place * std::stoi(word);
        place *= 10;
      }
    }
    ASSERT_EQ(numbers.size(), 6u) << prompt;
    EXPECT_EQ(labels.size(), 6u) << prompt;
    std::stable_sort(
        numbers.begin(), numbers.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string expected;
    for (const auto& [value, of_value] : numbers) {
      EXPECT_GT(value, 0);
      expected += (expected.empty() ? "" : " , ") + of_value;
    }
    EXPECT_EQ(Text(question.answer), expected) << prompt;
    EXPECT_EQ(question.answer.size(), 12u);
    EXPECT_EQ(question.answer.back(), kEnd);
    EXPECT_LE(static_cast<int>(question.prompt.size()),
              Sorting().prompt_length(3, 6));
    ++num_read;
  }
  EXPECT_EQ(num_read, 200);
}

TEST(Sorting, HasTheAuthorsVocabulary) {
  const auto tokenizer = Sorting().make_tokenizer();
  EXPECT_EQ(tokenizer->vocabulary_size(), 118);
  EXPECT_THAT(*tokenizer->Encode("0 9 D , : = A"),
              ElementsAre(4, 13, 14, 15, 16, 17, 19));
}

TEST(Sorting, AsManyNumbersAsLabelsCanBeSorted) {
  const Question question = Draw(1, kMaxSortedNumbers, 1);
  std::multiset<int64_t> labels(question.answer.begin(), question.answer.end());
  // Each label once; the comma between them besides.
  EXPECT_EQ(labels.count(15), 102u);
  EXPECT_EQ(std::set<int64_t>(labels.begin(), labels.end()).size(), 103u);
}

TEST(SortingGrid, ReadsAnswersBehindPaddedPrompts) {
  PairGridOptions options;
  options.max_first = 3;
  options.max_second = 4;
  options.samples = 3;
  const auto grid = MakePairGrid(Sorting(), options);
  for (int64_t index = 0; index < grid->size(); ++index) {
    const Question question = grid->Generate(1, index).value();
    ASSERT_EQ(static_cast<int>(question.prompt.size()),
              grid->PromptLength(index));
    // = before the first token; each other one follows the one before it.
    EXPECT_EQ(question.prompt[question.places[0]], 17);
    for (size_t i = 1; i < question.places.size(); ++i) {
      EXPECT_EQ(question.prompt[question.places[i]], question.answer[i - 1]);
    }
    EXPECT_EQ(question.answer.back(), kEnd);
  }
}

}  // namespace
}  // namespace ordo::model::tasks
