#include "model/tasks/pairs.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"

namespace ordo::model::tasks {
namespace {

using ::testing::HasSubstr;

Marked AllRight(const EvaluationTask& task) {
  return {1, std::vector<Marks>(task.size(), Marks{1})};
}

Marked AllWrong(const EvaluationTask& task) {
  return {1, std::vector<Marks>(task.size(), Marks{0})};
}

PairGridOptions SmallGrid() {
  PairGridOptions options;
  options.max_first = 4;
  options.max_second = 4;
  options.samples = 3;
  options.trained_first = 2;
  options.trained_second = 2;
  return options;
}

TEST(PairGrid, AsksSamplesQuestionsOfEveryPairOfLengths) {
  const auto grid = MakePairGrid(Addition(), SmallGrid());
  ASSERT_EQ(grid->size(), 48);
  std::map<std::string, int> cells;
  for (int64_t index = 0; index < grid->size(); ++index) {
    const Question question = grid->Generate(1, index).value();
    EXPECT_EQ(static_cast<int>(question.prompt.size()),
              grid->PromptLength(index));
    const std::string prompt = grid->tokenizer().Decode(question.prompt);
    const size_t plus = prompt.find('+');
    EXPECT_EQ(prompt.back(), '=');
    ++cells[std::to_string(plus) + "x" +
            std::to_string(prompt.size() - plus - 2)];
    EXPECT_EQ(question.answer.back(), kEnd);
  }
  EXPECT_EQ(cells.size(), 16u);
  for (const auto& [cell, count] : cells) EXPECT_EQ(count, 3) << cell;
}

TEST(PairGrid, KeepsTheQuestionsOfASmallerGrid) {
  PairGridOptions larger = SmallGrid();
  larger.max_first = 6;
  larger.max_second = 6;
  larger.samples = 5;
  // Cell (2, 3), second sample, in both.
  const auto small = MakePairGrid(Addition(), SmallGrid());
  const auto large = MakePairGrid(Addition(), larger);
  EXPECT_EQ(small->Generate(9, (1 * 4 + 2) * 3 + 1).value().prompt,
            large->Generate(9, (1 * 6 + 2) * 5 + 1).value().prompt);
}

TEST(PairGrid, QuestionsDifferWithinACellAndBetweenSeeds) {
  PairGridOptions options;
  options.max_first = 8;
  options.max_second = 8;
  options.samples = 10;
  const auto grid = MakePairGrid(Addition(), options);
  std::set<std::vector<int64_t>> prompts;
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    for (int64_t k = 0; k < 10; ++k) {
      prompts.insert(grid->Generate(seed, 63 * 10 + k).value().prompt);
    }
  }
  EXPECT_EQ(prompts.size(), 20u);
}

TEST(PairGrid, APerfectInRangeModelScoresAQuarter) {
  const auto grid = MakePairGrid(Addition(), SmallGrid());
  Marked marked = AllWrong(*grid);
  for (int64_t index = 0; index < grid->size(); ++index) {
    const int64_t cell = index / 3;
    const bool inside = cell / 4 < 2 && cell % 4 < 2;
    marked.answers[index] = {static_cast<uint8_t>(inside)};
  }
  const Scores scores = grid->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("grid_mean"), 0.25);
  EXPECT_DOUBLE_EQ(scores.metrics.at("trained_mean"), 1);
  EXPECT_DOUBLE_EQ(scores.metrics.at("outside_mean"), 0);
  EXPECT_DOUBLE_EQ(scores.metrics.at("diagonal_mean"), 0.5);
  EXPECT_DOUBLE_EQ(scores.metrics.at("largest_95"), 2);
  EXPECT_EQ(scores.standard_errors.count("largest_95"), 0u);
}

TEST(PairGrid, CellsHaveRowsForTheFirstOperand) {
  const auto grid = MakePairGrid(Addition(), SmallGrid());
  Marked marked = AllWrong(*grid);
  marked.answers[(0 * 4 + 2) * 3] = {1};
  const Scores scores = grid->Score(marked);
  EXPECT_DOUBLE_EQ(scores.details["cells"][0][2].get<double>(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.details["cells"][2][0].get<double>(), 0);
  EXPECT_THAT(scores.csv, HasSubstr("\n1,3,0.333333,0.333333\n"));
  EXPECT_THAT(scores.markdown, HasSubstr("\n|1|0|0|33|0|\n"));
  // Of one cell of sixteen, of three questions.
  EXPECT_NEAR(scores.standard_errors.at("grid_mean"), 1.0 / 48, 1e-12);
  EXPECT_EQ(scores.standard_errors.at("trained_mean"), 0);
}

// 1 by 1 is wrong, 2 by 2 right, 3 by 3 right but for one or two of twenty.
TEST(PairGrid, TheLargestLengthHasNineteenOfTwentyRight) {
  PairGridOptions options = SmallGrid();
  options.max_first = 3;
  options.max_second = 3;
  options.samples = 20;
  const auto grid = MakePairGrid(Addition(), options);
  Marked marked = AllRight(*grid);
  for (int k = 0; k < 20; ++k) marked.answers[k] = {0};
  const int64_t last = 8 * 20;
  marked.answers[last] = {0};
  EXPECT_DOUBLE_EQ(grid->Score(marked).metrics.at("largest_95"), 3);
  marked.answers[last + 1] = {0};
  EXPECT_DOUBLE_EQ(grid->Score(marked).metrics.at("largest_95"), 2);
}

TEST(PairGrid, AnUnknownTrainedLengthHasNoTrainedMean) {
  PairGridOptions options = SmallGrid();
  options.trained_first = 0;
  const auto grid = MakePairGrid(Addition(), options);
  const Scores scores = grid->Score(AllRight(*grid));
  EXPECT_EQ(scores.metrics.count("trained_mean"), 0u);
  EXPECT_EQ(scores.metrics.count("outside_mean"), 0u);
  EXPECT_DOUBLE_EQ(scores.metrics.at("largest_95"), 4);
}

TEST(PairGrid, ARectangleHasARowForEachFirstLength) {
  PairGridOptions options = SmallGrid();
  options.max_second = 2;
  const auto grid = MakePairGrid(Addition(), options);
  ASSERT_EQ(grid->size(), 24);
  EXPECT_EQ(grid->PromptLength(23), 8);
  const Scores scores = grid->Score(AllRight(*grid));
  EXPECT_EQ(scores.details["cells"].size(), 4u);
  EXPECT_EQ(scores.details["cells"][3].size(), 2u);
  EXPECT_DOUBLE_EQ(scores.metrics.at("largest_95"), 2);
}

// 1 by 1, 1 by 2 and so on, each as often as every other.
TEST(Pairs, ASetHasEveryPairOfLengthsEquallyOften) {
  PairsOptions options;
  options.max_first = 3;
  options.max_second = 2;
  options.rows = 60;
  const auto task = MakePairs(Addition(), options);
  std::map<std::string, int> counts;
  std::set<std::string> first, second;
  for (uint64_t index = 0; index < 120; ++index) {
    const std::string text =
        task->tokenizer().Decode(task->Generate(1, index).value().tokens);
    (index < 60 ? first : second).insert(text);
    const size_t plus = text.find('+');
    if (index < 60) {
      ++counts[std::to_string(plus) + "x" +
               std::to_string(text.find('=') - plus - 1)];
    }
  }
  EXPECT_EQ(first, second);
  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [lengths, count] : counts) EXPECT_EQ(count, 10) << lengths;
}

}  // namespace
}  // namespace ordo::model::tasks
