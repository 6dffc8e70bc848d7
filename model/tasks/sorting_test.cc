#include "model/tasks/sorting.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

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

// The first label may be drawn as the one behind the last, too; the numbers of
// digits are uniform.
TEST(Sorting, LabelsBeginAnywhereAndFollowEachOther) {
  constexpr int64_t kComma = 15, kFirstLabel = 19;
  constexpr int kDraws = 3000;
  std::map<int64_t, int64_t> first, next, sizes;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const std::vector<int64_t> prompt = Draw(3, 2, seed).prompt;
    // A label, a colon, digits, a comma and the next label.
    size_t comma = 2;
    while (prompt[comma] >= 4 && prompt[comma] < 14) ++comma;
    ASSERT_EQ(prompt[comma], kComma);
    ++first[prompt[0]];
    ++sizes[static_cast<int64_t>(comma) - 2];
    const int64_t behind = prompt[comma + 1];
    EXPECT_EQ(next.emplace(prompt[0], behind).first->second, behind);
  }
  testing::ExpectEven(3, sizes);
  // A comes by two of the 103 places.
  std::vector<double> weights;
  std::vector<int64_t> counts;
  for (const auto& [label, count] : first) {
    weights.push_back(label == kFirstLabel ? 2 : 1);
    counts.push_back(count);
  }
  ASSERT_EQ(counts.size(), static_cast<size_t>(kMaxSortedNumbers));
  testing::ExpectDrawn(weights, counts);
  std::set<int64_t> seen;
  int64_t label = kFirstLabel;
  while (seen.insert(label).second) label = next.at(label);
  EXPECT_EQ(label, kFirstLabel);
  EXPECT_EQ(seen.size(), static_cast<size_t>(kMaxSortedNumbers));
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
