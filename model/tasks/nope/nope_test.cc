#include "model/tasks/nope/nope.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/nope/items.h"

namespace ordo::model::tasks::nope {
namespace {

NopeOptions Rows(const std::string& task) {
  NopeOptions options;
  options.task = task;
  return options;
}

// Prompt, answer and the end mark.
TEST(Nope, OnlyTheAnswerCounts) {
  const auto task = MakeNope(Rows("parity"));
  for (uint64_t index = 0; index < 20; ++index) {
    const Sample sample = task->Generate(1, index).value();
    ASSERT_EQ(sample.scored.size(), sample.tokens.size());
    EXPECT_EQ(sample.tokens.back(), kEnd);
    const std::string text = task->tokenizer().Decode(sample.tokens);
    // The answer is Yes . and the end.
    for (size_t t = 0; t < sample.tokens.size(); ++t) {
      EXPECT_EQ(sample.scored[t] == 1, t + 6 >= sample.tokens.size()) << text;
    }
  }
}

// From 4 to 8 bits.
TEST(Nope, LengthsAreUniform) {
  const auto task = MakeNope(Rows("parity"));
  std::map<size_t, int> counts;
  for (uint64_t index = 0; index < 2000; ++index) {
    ++counts[task->Generate(1, index).value().tokens.size()];
  }
  ASSERT_EQ(counts.size(), 5u);
  // Standard deviation 18; six of them.
  for (const auto& [length, count] : counts) EXPECT_NEAR(count, 400, 108);
}

// Of addition the pairs of lengths are: 3, 5 and 7 have the longer of 2, 3, 4.
TEST(Nope, PairsOfLengthsOfAdditionAreUniform) {
  NopeOptions options = Rows("addition");
  options.min_length = 2;
  options.max_length = 4;
  const auto task = MakeNope(options);
  std::map<size_t, int> counts;
  for (uint64_t index = 0; index < 1500; ++index) {
    const std::string text =
        task->tokenizer().Decode(task->Generate(1, index).value().tokens);
    const size_t plus = text.find('+'), asked = text.find('?');
    const size_t a = (plus - 8) / 2, b = (asked - plus - 2) / 2;
    ++counts[std::max(a, b)];
  }
  ASSERT_EQ(counts.size(), 3u);
  EXPECT_NEAR(counts[2], 300, 95);
  EXPECT_NEAR(counts[3], 500, 110);
  EXPECT_NEAR(counts[4], 700, 117);
}

TEST(Nope, ASetIsGoneThroughInEachEpoch) {
  NopeOptions options = Rows("copy");
  options.rows = 15;
  const auto task = MakeNope(options);
  std::set<std::vector<int64_t>> first, second;
  for (uint64_t index = 0; index < 15; ++index) {
    first.insert(task->Generate(1, index).value().tokens);
    second.insert(task->Generate(1, 15 + index).value().tokens);
  }
  EXPECT_EQ(first, second);
}

TEST(NopeLengths, ReadAnswersBehindTheirPrompts) {
  for (const Kind& kind : Kinds()) {
    NopeLengthsOptions options;
    options.task = std::string(kind.name);
    options.min_length = 3;
    options.max_length = 5;
    options.samples = 4;
    const auto task = MakeNopeLengths(options);
    ASSERT_EQ(task->size(), 12);
    for (int64_t index = 0; index < 12; ++index) {
      const Question question = task->Generate(1, index).value();
      ASSERT_EQ(static_cast<int>(question.prompt.size()),
                task->PromptLength(index));
      EXPECT_EQ(question.answer.back(), kEnd);
      for (size_t i = 1; i < question.places.size(); ++i) {
        EXPECT_EQ(question.prompt[question.places[i]], question.answer[i - 1]);
      }
    }
  }
}

// Of length 4 it is, of 5 all but the end mark. Trained on 4.
TEST(NopeLengths, AnAnswerIsRightIfAllOfItIs) {
  NopeLengthsOptions options;
  options.task = "copy";
  options.min_length = 4;
  options.max_length = 5;
  options.samples = 1;
  options.trained_length = 4;
  const Scores scores =
      MakeNopeLengths(options)->Score({1, {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 0}}});
  EXPECT_DOUBLE_EQ(scores.metrics.at("trained_mean"), 1);
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0);
  EXPECT_EQ(scores.csv,
            "length,exact_match,count,total,standard_error\n4,1,1,1,\n"
            "5,0,0,1,\n");
  // A single question says nothing of how questions differ.
  EXPECT_TRUE(scores.standard_errors.empty());
}

}  // namespace
}  // namespace ordo::model::tasks::nope
