#include "model/tasks/counting.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

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

enum Kind { kSet, kRaise, kPass };

struct Operation {
  Kind kind = kPass;
  std::string variable;
  // In the text.
  int words = 1;
};

struct Program {
  std::vector<Operation> operations;
  std::string asked;
  int answer = -1;
};

Program Read(const std::string& text) {
  std::istringstream words(text);
  Program program;
  std::string word, second, third, fourth;
  while (words >> word) {
    if (word == "print") {
      words >> program.asked >> program.answer;
    } else if (word == "pass;") {
      program.operations.push_back({});
    } else if (words >> second; second == "++;") {
      program.operations.push_back({kRaise, word, 2});
    } else {
      words >> third >> fourth;
      EXPECT_EQ(second + third + fourth, "=0;") << text;
      program.operations.push_back({kSet, word, 4});
    }
  }
  return program;
}

// Variables that there are, by name.
using Values = std::map<std::string, int>;

void Apply(const Operation& operation, Values* values) {
  if (operation.kind == kSet) (*values)[operation.variable] = 0;
  if (operation.kind == kRaise) ++values->at(operation.variable);
}

Values ValuesAfter(const Program& program) {
  Values values;
  for (const Operation& operation : program.operations) {
    Apply(operation, &values);
  }
  return values;
}

// Which of the variables that there are it is.
int64_t PlaceOf(const std::string& variable, const Values& values) {
  return std::distance(values.begin(), values.find(variable));
}

int64_t NumAtTen(const Values& values) {
  return std::count_if(values.begin(), values.end(),
                       [](const auto& one) { return one.second == 10; });
}

TEST(Counting, AnswersAreWhatTheProgramsPrint) {
  for (const int variables : {1, 3, 5}) {
    auto options = Programs(variables, 60, 5);
    const auto task = MakeCounting(options);
    std::set<int> answers;
    for (uint64_t index = 0; index < 300; ++index) {
      const std::string text = Text(*task, index);
      const Program program = Read(text);
      const Values values = ValuesAfter(program);
      ASSERT_EQ(values.count(program.asked), 1u) << text;
      EXPECT_EQ(values.at(program.asked), program.answer) << text;
      EXPECT_THAT(program.operations.size(), AllOf(Ge(3u), Le(60u))) << text;
      for (const auto& [name, value] : values) {
        EXPECT_LE(value, 10);
        EXPECT_LT(name[0], 'a' + variables);
      }
      answers.insert(program.answer);
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
    Values values;
    for (const Operation& operation : Read(Text(*task, index)).operations) {
      const bool all = !values.empty() && NumAtTen(values) == 0;
      Apply(operation, &values);
      if (!all) continue;
      num_words += operation.words;
      ++operations;
    }
  }
  const double error = std::sqrt((16 + 4 * 7 + 50) / 58.0 - 1.172 * 1.172);
  EXPECT_NEAR(num_words / operations, 68 / 58.0,
              6 * error / std::sqrt(operations));
  EXPECT_GT(operations, 40000);
}

// 1 set and 7 raises with so many passes; what cannot be raised is drawn again
// from the kinds. Programs that never set their variable are drawn anew, which
// those of 200 operations and a tenth of sets hardly ever are.
TEST(Counting, KindsHaveTheirWeights) {
  for (const int pass : {50, 100, 10}) {
    SCOPED_TRACE(pass);
    auto options = Programs(1, 512, pass);
    options.programs.max_tokens = 100000;
    const auto task = MakeCounting(options);
    std::vector<int64_t> unset(3), below_ten(3), at_ten(3);
    for (uint64_t index = 0; index < 200; ++index) {
      const Program program = Read(Text(*task, index));
      Values values;
      for (const Operation& operation : program.operations) {
        if (NumAtTen(values) > 0) {
          ++at_ten[operation.kind];
        } else if (!values.empty()) {
          ++below_ten[operation.kind];
        } else if (program.operations.size() >= 200) {
          ++unset[operation.kind];
        }
        Apply(operation, &values);
      }
    }
    testing::ExpectDrawn({1, 7, 1.0 * pass}, below_ten);
    EXPECT_EQ(at_ten[kRaise], 0);
    testing::ExpectDrawn({1, 1.0 * pass}, {at_ten[kSet], at_ten[kPass]});
    EXPECT_EQ(unset[kRaise], 0);
    if (pass == 10) testing::ExpectDrawn({1, 10}, {unset[kSet], unset[kPass]});
  }
}

// Any of all is set, and of those that there are any is raised, by which it is
// asked for as well.
TEST(Counting, VariablesAreChosenEvenly) {
  auto options = Programs(5, 100, 0);
  options.programs.max_tokens = 100000;
  const auto task = MakeCounting(options);
  std::map<std::string, int64_t> set;
  // By how many there are.
  std::map<size_t, std::map<int64_t, int64_t>> raised, asked;
  for (uint64_t index = 0; index < 2000; ++index) {
    const Program program = Read(Text(*task, index));
    Values values;
    for (const Operation& operation : program.operations) {
      if (operation.kind == kSet) ++set[operation.variable];
      if (operation.kind == kRaise && NumAtTen(values) == 0) {
        ++raised[values.size()][PlaceOf(operation.variable, values)];
      }
      Apply(operation, &values);
    }
    ++asked[values.size()][PlaceOf(program.asked, values)];
  }
  testing::ExpectEven(5, set);
  for (size_t there = 2; there <= 5; ++there) {
    SCOPED_TRACE(there);
    testing::ExpectEven(there, raised[there]);
    testing::ExpectEven(there, asked[there]);
  }
}

// Of two one is at ten: half of the raises cannot be, so sets gain on raises.
TEST(Counting, WhatCannotBeRaisedIsDrawnAgainFromTheKinds) {
  auto options = Programs(2, 200, 0);
  options.programs.max_tokens = 100000;
  const auto task = MakeCounting(options);
  std::vector<int64_t> kinds(3);
  for (uint64_t index = 0; index < 200; ++index) {
    Values values;
    for (const Operation& operation : Read(Text(*task, index)).operations) {
      if (values.size() == 2 && NumAtTen(values) == 1) ++kinds[operation.kind];
      Apply(operation, &values);
    }
  }
  testing::ExpectDrawn({1, 3.5}, {kinds[kSet], kinds[kRaise]});
}

// With nothing to be passed the first operation sets a variable, so that no
// program is drawn anew.
TEST(Counting, NumbersOfOperationsAreUniform) {
  auto options = Programs(1, 12, 0);
  const auto task = MakeCounting(options);
  std::map<size_t, int64_t> counts;
  for (uint64_t index = 0; index < 3000; ++index) {
    ++counts[Read(Text(*task, index)).operations.size()];
  }
  testing::ExpectEven(10, counts);
  EXPECT_EQ(counts.begin()->first, 3u);
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
