#include "model/evaluation/passes.h"

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/micro_batch.h"
#include "model/tasks/addition.h"
#include "model/tasks/flip_flop.h"
#include "model/tasks/pairs.h"
#include "model/tasks/task.h"

namespace ordo::model::evaluation {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;

// Sums, three by default, each of one digit and one, one and two, two and one,
// two and two: prompts of four, five, five and six tokens.
std::unique_ptr<tasks::EvaluationTask> Grid(int samples = 3) {
  tasks::PairGridOptions options;
  options.max_first = 2;
  options.max_second = 2;
  options.samples = samples;
  options.trained_first = 1;
  options.trained_second = 1;
  return tasks::MakePairGrid(tasks::Addition(), options);
}

TEST(PassesTest, QuestionsOfOneLengthGoTogetherShortestFirst) {
  std::vector<std::vector<int64_t>> indices;
  for (const Pass& pass : MakePasses(*Grid(), {4, 1000})) {
    indices.push_back(pass.indices);
  }
  EXPECT_THAT(indices,
              ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3, 4, 5, 6),
                          ElementsAre(7, 8), ElementsAre(9, 10, 11)));
}

TEST(PassesTest, EachHasTheRowsOfItsShapeHoweverManyQuestionsThereAre) {
  for (const Pass& pass : MakePasses(*Grid(), {7, 1000})) {
    EXPECT_EQ(pass.num_rows, 7);
  }
}

TEST(PassesTest, WhatIsDecodedCountsInTheTokensOfARow) {
  const auto passes = MakePasses(*Grid(), {100, 90});
  ASSERT_EQ(passes.size(), 3u);
  // The longest answer to the longest prompt: up to three digits and the end.
  EXPECT_EQ(passes[2].num_tokens, 4);
  EXPECT_EQ(passes[2].num_rows, 90 / (6 + 4));
}

// By length of the prompt, the tokens to decode and the rows of its passes.
std::map<int, std::set<std::pair<int, int64_t>>> ShapesOf(
    const tasks::EvaluationTask& task, const catalog::MicroBatchShape& shape) {
  std::map<int, std::set<std::pair<int, int64_t>>> shapes;
  for (const Pass& pass : MakePasses(task, shape)) {
    shapes[task.PromptLength(pass.indices[0])].insert(
        {pass.num_tokens, pass.num_rows});
  }
  return shapes;
}

// Of three samples none may have a carry, of a hundred some do.
TEST(PassesTest, TheirShapeDependsOnNoAnswersAndOnNoNumberOfThem) {
  for (const int samples : {1, 2, 3, 100}) {
    EXPECT_THAT(ShapesOf(*Grid(samples), {100, 90}),
                ElementsAre(Pair(4, ElementsAre(Pair(3, 12))),
                            Pair(5, ElementsAre(Pair(4, 10))),
                            Pair(6, ElementsAre(Pair(4, 9)))))
        << samples;
  }
}

// Questions in words with prompts of these lengths.
class InWords : public tasks::EvaluationTask {
 public:
  explicit InWords(std::vector<int> lengths) : lengths_(std::move(lengths)) {}

  const tasks::Tokenizer& tokenizer() const override {
    return grid_->tokenizer();
  }
  int64_t size() const override {
    return static_cast<int64_t>(lengths_.size());
  }
  tasks::Measure measure() const override { return tasks::Measure::kText; }
  absl::StatusOr<tasks::Question> Generate(uint64_t /*seed*/,
                                           int64_t index) const override {
    tasks::Question question;
    question.prompt.resize(static_cast<size_t>(lengths_[index]));
    return question;
  }
  int PromptLength(int64_t index) const override { return lengths_[index]; }
  int AnswerLength(int64_t /*index*/) const override { return 10; }
  tasks::Scores Score(const tasks::Marked& /*marked*/) const override {
    return {};
  }

 private:
  const std::vector<int> lengths_;
  const std::unique_ptr<tasks::EvaluationTask> grid_ = Grid();
};

TEST(PassesTest, NorDoesThatOfAnswersInWordsOnWhatElseIsAsked) {
  std::vector<int> lengths = {40, 50, 50, 50};
  lengths.insert(lengths.end(), 9, 60);
  const auto whole = ShapesOf(InWords(lengths), {8, 220});
  // 10 tokens are decoded; of 60 and those 3 rows are 210 tokens.
  EXPECT_THAT(whole, ElementsAre(Pair(40, ElementsAre(Pair(10, 4))),
                                 Pair(50, ElementsAre(Pair(10, 3))),
                                 Pair(60, ElementsAre(Pair(10, 3)))));
  for (size_t left_out = 0; left_out < lengths.size(); ++left_out) {
    std::vector<int> others = lengths;
    others.erase(others.begin() + static_cast<int64_t>(left_out));
    for (const auto& [length, shapes] : ShapesOf(InWords(others), {8, 220})) {
      EXPECT_EQ(shapes, whole.at(length)) << left_out;
    }
  }
  for (const Pass& pass : MakePasses(InWords(lengths), {8, 1000})) {
    EXPECT_EQ(pass.num_rows, 8) << pass.indices.size() << " prompts";
  }
}

TEST(PassesTest, NothingIsDecodedWhereAnswersAreRead) {
  tasks::FlipFlopReadsOptions options;
  options.strings.length = 16;
  options.samples = 3;
  const auto passes = MakePasses(*tasks::MakeFlipFlopReads(options), {2, 1000});
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(passes[0].num_tokens, 0);
  EXPECT_THAT(passes[1].indices, ElementsAre(2));
}

TEST(PassesTest, RowsThatAreLeftAreCopiesOfTheFirst) {
  const auto grid = Grid();
  const std::vector<tasks::Question> questions = {grid->Generate(1, 3).value(),
                                                  grid->Generate(1, 4).value()};
  const auto prompts = PromptsOf(questions, 5);
  ASSERT_EQ(prompts.size(), 5u);
  EXPECT_EQ(prompts[1], questions[1].prompt);
  EXPECT_THAT(std::vector(prompts.begin() + 2, prompts.end()),
              Each(questions[0].prompt));
}

}  // namespace
}  // namespace ordo::model::evaluation
