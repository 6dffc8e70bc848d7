#include "model/tasks/counting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;

CountingTrainingOptions Programs(int variables, int max_operations,
                                 int pass = 50) {
  CountingTrainingOptions options;
  options.programs.variables = variables;
  options.programs.max_operations = max_operations;
  options.programs.pass = pass;
  options.rows = 0;
  return options;
}

std::string Text(const TrainingTask& task, uint64_t index, uint64_t seed = 1) {
  return task.tokenizer().Decode(task.Generate(seed, index).value().tokens);
}

// Runs a program as it is written, from its text.
struct Result {
  std::map<std::string, int> values;
  int operations = 0;
  std::map<std::string, int> kinds;
  std::string asked;
  int answer = -1;
};

Result RunProgram(const std::string& text) {
  std::istringstream words(text);
  Result result;
  std::string word, second, rest;
  while (words >> word) {
    if (word == "print") {
      words >> result.asked >> result.answer;
      continue;
    }
    ++result.operations;
    if (word == "pass;") {
      ++result.kinds["pass"];
      continue;
    }
    words >> second;
    if (second == "++;") {
      ++result.values.at(word);
      ++result.kinds["raise"];
      continue;
    }
    words >> second >> rest;
    EXPECT_EQ(second + rest, "0;") << text;
    result.values[word] = 0;
    ++result.kinds["set"];
  }
  return result;
}

TEST(Counting, AnswersAreWhatTheProgramsPrint) {
  for (const int variables : {1, 3, 5}) {
    auto options = Programs(variables, 60, 5);
    const auto task = MakeCounting(options);
    std::set<int> answers;
    for (uint64_t index = 0; index < 300; ++index) {
      const std::string text = Text(*task, index);
      const Result result = RunProgram(text);
      ASSERT_EQ(result.values.count(result.asked), 1u) << text;
      EXPECT_EQ(result.values.at(result.asked), result.answer) << text;
      EXPECT_THAT(result.operations, AllOf(Ge(3), Le(60))) << text;
      for (const auto& [name, value] : result.values) {
        EXPECT_LE(value, 10);
        EXPECT_LT(name[0], 'a' + variables);
      }
      answers.insert(result.answer);
    }
    EXPECT_GT(answers.size(), 5u);
  }
}

TEST(Counting, FirstRowsOfSeedOneAreFrozen) {
  const auto task = MakeCounting(Programs(3, 8, 3));
  EXPECT_THAT(
      (std::vector<std::string>{Text(*task, 0), Text(*task, 1),
                                Text(*task, 2)}),
      ElementsAre("b = 0 ; b ++; b = 0 ; print b 0",
                  "pass; pass; pass; pass; c = 0 ; c ++; c ++; print c 2",
                  "pass; pass; c = 0 ; pass; c ++; c ++; print c 2"));
}

TEST(Counting, OnlyTheAnswerCounts) {
  const Sample sample = MakeCounting(Programs(1, 30))->Generate(1, 0).value();
  ASSERT_EQ(sample.scored.size(), sample.tokens.size());
  EXPECT_EQ(std::count(sample.scored.begin(), sample.scored.end(), 1), 1);
  EXPECT_EQ(sample.scored.back(), 1);
}

// Sets have four words in 1 of 58 draws, raises two in 7 and passes one: 1.172
// words of an operation where each can be done, which is once the variable is
// set and below ten. The bound is six standard errors.
TEST(Counting, OperationsHaveThePublishedMeanOfWords) {
  auto options = Programs(1, 512);
  options.programs.max_tokens = 100000;
  const auto task = MakeCounting(options);
  double num_words = 0, operations = 0;
  for (uint64_t index = 0; index < 400; ++index) {
    std::istringstream words(Text(*task, index));
    int value = 10;
    std::string word;
    while (words >> word && word != "print") {
      int length = 1;
      const int before = value;
      if (word == "a") {
        words >> word;
        length = word == "=" ? 4 : 2;
        value = word == "=" ? 0 : value + 1;
        if (length == 4) words >> word >> word;
      }
      if (before == 10) continue;
      num_words += length;
      ++operations;
    }
  }
  const double error = std::sqrt((16 + 4 * 7 + 50) / 58.0 - 1.172 * 1.172);
  EXPECT_NEAR(num_words / operations, 68 / 58.0,
              6 * error / std::sqrt(operations));
  EXPECT_GT(operations, 40000);
}

// Of 3 to 62 operations, in twelve equal ranges; Pearson's statistic passes the
// bound once in a million. Rows without a variable, which are redone, are rare:
// the first draw that can be done sets one.
TEST(Counting, NumbersOfOperationsAreUniform) {
  constexpr int kRows = 2500;
  auto options = Programs(1, 62, 0);
  options.programs.max_tokens = 10000;
  const auto task = MakeCounting(options);
  std::map<int, double> counts;
  for (uint64_t index = 0; index < kRows; ++index) {
    ++counts[(RunProgram(Text(*task, index)).operations - 3) / 5];
  }
  ASSERT_EQ(counts.size(), 12u);
  double statistic = 0;
  const double expected = kRows / 12.0;
  for (const auto& [range, count] : counts) {
    statistic += std::pow(count - expected, 2) / expected;
  }
  EXPECT_LT(statistic, 49.3);
}

TEST(Counting, LongRowsLoseTheirLeftEnd) {
  auto options = Programs(1, 100, 0);
  options.programs.max_tokens = 10000;
  const auto whole = MakeCounting(options);
  options.programs.max_tokens = 20;
  const auto cut = MakeCounting(options);
  EXPECT_EQ(cut->row_length(), 20);
  int num_cut = 0;
  for (uint64_t index = 0; index < 50; ++index) {
    const auto all = whole->Generate(1, index).value().tokens;
    const auto kept = cut->Generate(1, index).value().tokens;
    EXPECT_EQ(kept.size(), std::min<size_t>(all.size(), 20));
    EXPECT_TRUE(std::equal(kept.rbegin(), kept.rend(), all.rbegin()));
    num_cut += all.size() > 20;
  }
  EXPECT_GT(num_cut, 10);
}

TEST(Counting, GoesThroughTheSameRowsInEachEpoch) {
  auto options = Programs(1, 50);
  options.rows = 20;
  const auto task = MakeCounting(options);
  std::vector<std::string> in_order, again;
  for (uint64_t index = 0; index < 20; ++index) {
    in_order.push_back(Text(*task, index));
    again.push_back(Text(*task, 20 + index));
  }
  EXPECT_NE(in_order, again);
  std::sort(in_order.begin(), in_order.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(in_order, again);
  EXPECT_GT(std::set<std::string>(again.begin(), again.end()).size(), 18u);
}

TEST(CountingAnswers, AskForTheLastToken) {
  CountingAnswersOptions options;
  options.programs = Programs(3, 40, 5).programs;
  options.programs.max_tokens = 64;
  options.samples = 30;
  const auto task = MakeCountingAnswers(options);
  for (int64_t index = 0; index < 30; ++index) {
    const Question question = task->Generate(4, index).value();
    ASSERT_EQ(question.prompt.size(), 63u);
    ASSERT_EQ(question.places.size(), 1u);
    ASSERT_EQ(question.answer.size(), 1u);
    const auto place = static_cast<size_t>(question.places[0]);
    // print, a letter; then padding only.
    EXPECT_EQ(question.prompt[place - 1], 6);
    EXPECT_GE(question.prompt[place], 18);
    for (size_t t = place + 1; t < 63; ++t) EXPECT_EQ(question.prompt[t], 0);
    EXPECT_THAT(question.answer[0], AllOf(Ge(7), Le(17)));
  }
}

// Four tokens for each of five operations, and the question.
TEST(CountingAnswers, AreNoLongerThanTheirOperationsCanBe) {
  CountingAnswersOptions options;
  options.programs = Programs(26, 5, 0).programs;
  options.samples = 400;
  const auto task = MakeCountingAnswers(options);
  int longest = 0;
  for (int64_t index = 0; index < options.samples; ++index) {
    const Question question = task->Generate(1, index).value();
    ASSERT_EQ(question.prompt.size(), 5u * 4 + 2);
    ASSERT_EQ(task->PromptLength(index), 5 * 4 + 2);
    longest = std::max(longest, question.places[0]);
  }
  EXPECT_LE(longest, 5 * 4 + 1);
  EXPECT_GE(longest, 10);
  CountingTrainingOptions training;
  training.programs = options.programs;
  EXPECT_EQ(MakeCounting(training)->row_length(), 5 * 4 + 3);
}

TEST(CountingAnswers, ScoresErrorsByAnswerAndWhatCannotBeKnown) {
  CountingAnswersOptions options;
  options.programs = Programs(1, 200, 0).programs;
  options.programs.max_tokens = 12;
  options.samples = 200;
  const auto task = MakeCountingAnswers(options);
  Marked marked;
  // Wrong where the answer is 0; and which questions hold no set at all, `= 0`.
  double wrong = 0, without_set = 0;
  for (int64_t index = 0; index < 200; ++index) {
    const Question question = task->Generate(1, index).value();
    const bool zero = question.answer[0] == 7;
    marked.answers.push_back({static_cast<uint8_t>(zero ? 0 : 1)});
    wrong += zero;
    const auto& prompt = question.prompt;
    const auto set = std::find(prompt.begin(), prompt.end(), 3);
    // The name stands before it, so a row that begins with `=` has none.
    const bool later = set != prompt.end() &&
                       std::find(set + 1, prompt.end(), 3) != prompt.end();
    without_set += (set == prompt.end() || set == prompt.begin()) && !later;
  }
  const Scores scores = task->Score(marked);
  ASSERT_GT(wrong, 0);
  ASSERT_GT(without_set, 0);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), wrong / 200);
  EXPECT_DOUBLE_EQ(scores.metrics.at("unanswerable"), without_set / 200);
  EXPECT_EQ(scores.details["shares"][0]["answer"], 0);
  EXPECT_DOUBLE_EQ(scores.details["shares"][0]["error"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(scores.details["shares"][1]["error"].get<double>(), 0);
}

TEST(Counting, TokensAreTheAuthorsWords) {
  const auto task = MakeCounting({});
  EXPECT_EQ(task->tokenizer().vocabulary_size(), 44);
  EXPECT_FALSE(task->tokenizer().has_marks());
  EXPECT_EQ(*task->tokenizer().Encode("a = 0 ; a ++; pass; print a 1"),
            (std::vector<int64_t>{18, 3, 7, 4, 18, 5, 2, 6, 18, 8}));
}

}  // namespace
}  // namespace ordo::model::tasks
