#include "model/evaluation/passes.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/flip_flop.h"
#include "model/tasks/pairs.h"

namespace ordo::model::evaluation {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Three sums each of one digit and one, one and two, two and one, two and two:
// prompts of four, five, five and six tokens.
std::unique_ptr<tasks::EvaluationTask> Grid() {
  tasks::PairGridOptions options;
  options.max_first = 2;
  options.max_second = 2;
  options.samples = 3;
  options.trained_first = 1;
  options.trained_second = 1;
  return tasks::MakePairGrid(tasks::Addition(), options);
}

TEST(PassesTest, QuestionsOfOneLengthGoTogetherShortestFirst) {
  std::vector<std::vector<int64_t>> indices;
  for (const Pass& pass : MakePasses(*Grid(), 1, {4, 1000})) {
    indices.push_back(pass.indices);
  }
  EXPECT_THAT(indices,
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5, 6),
                          ElementsAre(7, 8), ElementsAre(9, 10, 11)));
}

TEST(PassesTest, EachHasTheRowsOfItsShapeHoweverManyQuestionsThereAre) {
  for (const Pass& pass : MakePasses(*Grid(), 1, {7, 1000})) {
    EXPECT_EQ(pass.num_rows, 7);
  }
}

TEST(PassesTest, WhatIsDecodedCountsInTheTokensOfARow) {
  const auto passes = MakePasses(*Grid(), 1, {100, 90});
  ASSERT_EQ(passes.size(), 3u);
  // The longest answer to the longest prompt: up to three digits and the end.
  EXPECT_GE(passes[2].num_tokens, 3);
  EXPECT_LE(passes[2].num_tokens, 4);
  EXPECT_EQ(passes[2].num_rows, 90 / (6 + passes[2].num_tokens));
}

TEST(PassesTest, NothingIsDecodedWhereAnswersAreRead) {
  tasks::FlipFlopReadsOptions options;
  options.strings.length = 16;
  options.samples = 3;
  const auto passes =
      MakePasses(*tasks::MakeFlipFlopReads(options), 1, {2, 1000});
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].num_tokens, 0);
  EXPECT_THAT(passes[1].indices, ElementsAre(2));
}

TEST(PassesTest, RowsThatAreLeftAreCopiesOfTheFirst) {
  const auto grid = Grid();
  const std::vector<tasks::Question> questions = {grid->Generate(1, 3),
                                                  grid->Generate(1, 4)};
  const auto prompts = PromptsOf(questions, 5);
  ASSERT_EQ(prompts.size(), 5u);
  EXPECT_EQ(prompts[1], questions[1].prompt);
  EXPECT_THAT(std::vector(prompts.begin() + 2, prompts.end()),
              Each(questions[0].prompt));
}

}  // namespace
}  // namespace ordo::model::evaluation
