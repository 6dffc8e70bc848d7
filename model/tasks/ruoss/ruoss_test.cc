#include "model/tasks/ruoss/ruoss.h"

#include <map>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/ruoss/items.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::ruoss {
namespace {

using ::testing::ElementsAre;

RuossOptions Rows(const std::string& task, int max_length) {
  RuossOptions options;
  options.task = task;
  options.max_length = max_length;
  return options;
}

std::string FirstRow(const std::string& task) {
  const auto rows = MakeRuoss(Rows(task, 9));
  const Sample sample = rows->Generate(1, 0).value();
  std::vector<int64_t> outputs;
  for (size_t t = 0; t < sample.tokens.size(); ++t) {
    if (sample.scored[t] != 0) outputs.push_back(sample.targets[t]);
  }
  return rows->tokenizer().Decode(sample.tokens) + " -> " +
         rows->tokenizer().Decode(outputs);
}

// All of one length, since that is drawn first; checked by hand.
TEST(Ruoss, FirstRowsOfSeedOneAreFrozen) {
  std::map<std::string, std::string> rows;
  for (const Kind& kind : Kinds()) {
    rows[std::string(kind.name)] = FirstRow(std::string(kind.name));
  }
  const std::map<std::string, std::string> expected = {
      {"binary_addition",
       "1 2 0 1 1 1 1 0 _ _ _ _ _ _ _ _ _ _ -> 1 1 1 1 1 2 0 0 0"},
      {"binary_multiplication",
       "1 2 0 1 1 1 1 0 _ _ _ _ _ _ _ _ _ -> 0 1 1 1 1 2 0 0"},
      {"bucket_sort", "0 0 2 1 3 0 1 2 _ _ _ _ _ _ _ _ _ -> 0 0 0 1 1 2 2 3"},
      {"cycle_navigation", "0 0 1 0 2 0 1 1 _ _ -> 2"},
      {"duplicate_string",
       "0 0 0 0 1 0 0 1 _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ -> 0 0 0 0 1 0 0 1 0 "
       "0 0 0 1 0 0 1"},
      {"even_pairs", "0 0 0 0 1 0 0 1 _ _ -> 1"},
      {"missing_duplicate", "0 0 0 0 0 2 0 0 _ _ -> 0"},
      {"modular_arithmetic", "0 + 2 + 3 + 1 _ _ -> 1"},
      {"modular_arithmetic_brackets", "( 0 + ( - 2 ) ) _ _ -> 3"},
      {"odds_first", "0 0 0 0 1 0 0 1 _ _ _ _ _ _ _ _ _ -> 0 0 0 1 0 0 1 0"},
      {"parity_check", "0 0 0 0 1 0 0 1 _ _ -> 0"},
      {"reverse_string",
       "0 0 0 0 1 0 0 1 _ _ _ _ _ _ _ _ _ -> 1 0 0 1 0 0 0 0"},
      {"solve_equation", "( 0 + - x ) = 3 _ _ -> 2"},
      {"square_root", "0 0 0 0 1 0 1 0 _ _ _ _ _ -> 0 0 1 1"},
      {"stack_manipulation",
       "0 3 2 4 2 3 3 3 _ _ _ _ _ _ _ _ _ _ -> 0 0 0 0 2 0 0 0 0"}};
  EXPECT_EQ(rows, expected);
}

TEST(Ruoss, EmptySymbolsAskForTheOutputs) {
  const auto task = MakeRuoss(Rows("reverse_string", 12));
  EXPECT_EQ(task->row_length(), 25);
  for (uint64_t index = 0; index < 400; index += 7) {
    const Sample sample = task->Generate(2, index).value();
    const size_t n = (sample.tokens.size() - 1) / 2;
    for (size_t i = 0; i < n; ++i) {
      EXPECT_EQ(sample.tokens[n + i], kEmpty);
      // What is said at the empty symbol, after it has been read.
      EXPECT_EQ(sample.scored[n + i + 1], 1);
      EXPECT_EQ(sample.targets[n + i + 1], sample.tokens[n - 1 - i]);
      EXPECT_EQ(sample.scored[i], 0);
    }
    EXPECT_EQ(sample.scored[n], 0);
  }
}

TEST(Ruoss, RowsOfABatchHaveOneLengthAndBatchesAllLengths) {
  const auto task = MakeRuoss(Rows("parity_check", 5));
  std::set<size_t> lengths;
  for (uint64_t batch = 0; batch < 60; ++batch) {
    const size_t length = task->Generate(1, 128 * batch).value().tokens.size();
    lengths.insert(length);
    for (const uint64_t row : {1, 64, 127}) {
      EXPECT_EQ(task->Generate(1, 128 * batch + row).value().tokens.size(),
                length);
    }
  }
  EXPECT_THAT(lengths, ElementsAre(3, 4, 5, 6, 7));
}

TEST(Ruoss, LengthsOfBatchesAreUniform) {
  const auto task = MakeRuoss(Rows("parity_check", 40));
  std::map<size_t, int64_t> lengths;
  for (uint64_t batch = 0; batch < 1500; ++batch) {
    // The output and one token more follow.
    ++lengths[task->Generate(1, 128 * batch).value().tokens.size() - 2];
  }
  testing::ExpectEven(40, lengths);
  EXPECT_EQ(lengths.rbegin()->first, 40u);
}

TEST(Ruoss, ARowIsAPureFunctionOfSeedAndIndex) {
  const auto task = MakeRuoss(Rows("bucket_sort", 40));
  const auto row = task->Generate(1, 500).value().tokens;
  for (uint64_t index = 0; index < 5; ++index) task->Generate(1, index).value();
  EXPECT_EQ(MakeRuoss(Rows("bucket_sort", 40))->Generate(1, 500).value().tokens,
            row);
  EXPECT_NE(task->Generate(2, 500).value().tokens, row);
}

RuossLengthsOptions Lengths(const std::string& task) {
  RuossLengthsOptions options;
  options.task = task;
  options.min_length = 4;
  options.max_length = 9;
  options.length_step = 2;
  options.samples = 5;
  options.trained_length = 5;
  return options;
}

TEST(RuossLengths, AskForSamplesOfEachLength) {
  const auto task = MakeRuossLengths(Lengths("duplicate_string"));
  ASSERT_EQ(task->size(), 15);
  std::map<size_t, int> counts;
  for (int64_t index = 0; index < 15; ++index) {
    const Question question = task->Generate(1, index).value();
    EXPECT_EQ(static_cast<int>(question.prompt.size()),
              task->PromptLength(index));
    ++counts[question.prompt.size() / 3];
    EXPECT_EQ(question.places.back(), task->PromptLength(index) - 1);
    EXPECT_EQ(question.prompt[question.places[0]], kEmpty);
  }
  EXPECT_EQ(counts, (std::map<size_t, int>{{4, 5}, {6, 5}, {8, 5}}));
}

TEST(RuossLengths, MeasureNothingAfterTheEndMark) {
  const auto task = MakeRuossLengths(Lengths("stack_manipulation"));
  for (int64_t index = 0; index < task->size(); ++index) {
    const Question question = task->Generate(1, index).value();
    EXPECT_EQ(question.answer.back(), 2);
    EXPECT_EQ(question.places.size(), question.answer.size());
  }
}

TEST(RuossLengths, KeepTheQuestionsOfOtherLengths) {
  RuossLengthsOptions more = Lengths("square_root");
  more.min_length = 2;
  const auto task = MakeRuossLengths(Lengths("square_root"));
  EXPECT_EQ(MakeRuossLengths(more)->Generate(1, 5).value().prompt,
            task->Generate(1, 0).value().prompt);
}

// Length 4 all right, 6 two fifths, 8 none: the model was trained up to 5.
TEST(RuossLengths, TheScoreIsTheMeanOverLengthsNotTrainedOn) {
  const auto task = MakeRuossLengths(Lengths("parity_check"));
  tasks::Marked marked;
  for (int64_t index = 0; index < 15; ++index) {
    marked.answers.push_back({static_cast<uint8_t>(index < 7)});
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("trained_mean"), 1);
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0.2);
  EXPECT_NEAR(scores.standard_errors.at("score"), 0.244949 / 2, 1e-6);
  EXPECT_EQ(scores.csv,
            "length,accuracy,count,total,standard_error\n4,1,5,5,0\n"
            "6,0.4,2,5,0.244949\n8,0,0,5,0\n");
}

TEST(RuossLengths, WithoutATrainedLengthAllCount) {
  RuossLengthsOptions options = Lengths("parity_check");
  options.trained_length = 0;
  const auto task = MakeRuossLengths(options);
  const Scores scores = task->Score({1, std::vector<Marks>(15, Marks{1})});
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 1);
  EXPECT_EQ(scores.metrics.count("trained_mean"), 0u);
}

}  // namespace
}  // namespace ordo::model::tasks::ruoss
