#include "model/tasks/sample_slice.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/addition.h"
#include "model/tasks/flip_flop.h"

namespace ordo::model::tasks {
namespace {

using ::testing::ElementsAre;

// 3 x 2 cells.
constexpr int64_t kCells = 6;
constexpr int kSamples = 5;

std::unique_ptr<EvaluationTask> Grid(int samples) {
  PairGridOptions options;
  options.max_first = 3;
  options.max_second = 2;
  options.samples = samples;
  return MakePairGrid(Addition(), options);
}

SampleSlice GridSlice(int64_t first, int64_t count, uint64_t seed = 1) {
  return SampleSlice(Grid(kSamples), Grid(static_cast<int>(count)),
                     {first, count, kCells, seed});
}

std::string PromptOf(const EvaluationTask& task, int64_t index) {
  return task.tokenizer().Decode(task.Generate(1, index)->prompt);
}

std::multiset<std::string> PromptsOf(const EvaluationTask& task) {
  std::multiset<std::string> prompts;
  for (int64_t i = 0; i < task.size(); ++i) {
    prompts.insert(PromptOf(task, i));
  }
  return prompts;
}

std::vector<std::string> IdsOf(const EvaluationTask& task) {
  std::vector<std::string> ids;
  for (int64_t i = 0; i < task.size(); ++i) ids.push_back(task.ItemId(1, i));
  return ids;
}

TEST(SampleSliceTest, SlicesTogetherAskWhatTheWholeAsks) {
  std::multiset<std::string> asked;
  std::set<std::string> ids;
  for (const auto& [first, count] : {std::pair(0, 1), {1, 3}, {4, 1}}) {
    const SampleSlice slice = GridSlice(first, count);
    EXPECT_EQ(slice.size(), count * kCells);
    for (const std::string& prompt : PromptsOf(slice)) asked.insert(prompt);
    for (const std::string& id : IdsOf(slice)) {
      EXPECT_TRUE(ids.insert(id).second) << id;
    }
  }
  EXPECT_EQ(asked, PromptsOf(*Grid(kSamples)));
}

TEST(SampleSliceTest, HowASetIsCutChangesNoItemAndNoOrder) {
  std::vector<std::string> ids = IdsOf(GridSlice(0, 2));
  for (const std::string& id : IdsOf(GridSlice(2, 3))) ids.push_back(id);
  EXPECT_EQ(IdsOf(GridSlice(0, kSamples)), ids);
  // Nor does how many samples there may come to be.
  const SampleSlice longer(Grid(50), Grid(kSamples), {0, kSamples, kCells, 1});
  EXPECT_EQ(IdsOf(longer), ids);
  for (int64_t i = 0; i < longer.size(); ++i) {
    EXPECT_EQ(PromptOf(longer, i), PromptOf(GridSlice(0, kSamples), i)) << i;
  }
}

TEST(SampleSliceTest, EachSampleHasAllCellsInAnOrderOfItsOwn) {
  const SampleSlice slice = GridSlice(0, kSamples);
  std::set<std::vector<int>> orders;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    std::vector<int> lengths;
    for (int64_t i = 0; i < kCells; ++i) {
      const int64_t index = sample * kCells + i;
      lengths.push_back(slice.PromptLength(index));
      EXPECT_EQ(slice.Generate(1, index)->prompt.size(),
                static_cast<size_t>(lengths.back()));
      EXPECT_GE(slice.AnswerLength(index),
                slice.Generate(1, index)->answer.size());
    }
    orders.insert(lengths);
    std::sort(lengths.begin(), lengths.end());
    // a digits, +, b digits, =.
    EXPECT_THAT(lengths, ElementsAre(4, 5, 5, 6, 6, 7));
  }
  EXPECT_GT(orders.size(), 1u);
  EXPECT_NE(IdsOf(slice), IdsOf(GridSlice(0, kSamples, /*seed=*/2)));
}

TEST(SampleSliceTest, ASliceIsScoredAsAnEvaluationOfItsSamples) {
  const SampleSlice slice = GridSlice(3, 2);
  Marked marked;
  double right = 0;
  for (int64_t i = 0; i < slice.size(); ++i) {
    // The shortest alone are answered.
    const bool is_right = slice.PromptLength(i) == 4;
    right += is_right ? 1 : 0;
    marked.answers.push_back({static_cast<uint8_t>(is_right)});
  }
  const Scores scores = slice.Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("grid_mean"),
                   right / static_cast<double>(slice.size()));
  EXPECT_EQ(scores.details.at("cells")[0][0], 1);
  EXPECT_EQ(scores.details.at("cells")[2][1], 0);
  EXPECT_EQ(scores.details.at("samples"), 2);
  EXPECT_EQ(scores.details.at("first_sample"), 3);
}

TEST(SampleSliceTest, WithOneItemOfEachSampleItemsAreThoseOfTheEvaluation) {
  FlipFlopReadsOptions options;
  options.strings.length = 8;
  options.samples = 10;
  FlipFlopReadsOptions part = options;
  part.samples = 3;
  const SampleSlice slice(MakeFlipFlopReads(options), MakeFlipFlopReads(part),
                          {7, 3, 1, 1});
  EXPECT_THAT(IdsOf(slice), ElementsAre("1-7", "1-8", "1-9"));
  EXPECT_EQ(PromptOf(slice, 2), PromptOf(*MakeFlipFlopReads(options), 9));
  EXPECT_EQ(slice.UnitId(1, 2), slice.ItemId(1, 2));
  EXPECT_DOUBLE_EQ(slice.ItemScore({1, 0}), 0.5);
}

}  // namespace
}  // namespace ordo::model::tasks
