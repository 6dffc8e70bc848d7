#include "model/tasks/by_lengths.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/flip_flop.h"
#include "model/tasks/nope/nope.h"
#include "model/tasks/passkey/passkey.h"

namespace ordo::model::tasks {
namespace {

std::unique_ptr<EvaluationTask> Strings(int pairs, int samples) {
  FlipFlopReadsOptions options;
  options.strings.length = 2 * pairs;
  // Half of the pairs are reads.
  options.strings.ignore = 0;
  options.samples = samples;
  return MakeFlipFlopReads(options);
}

std::unique_ptr<EvaluationTask> Two(int64_t trained) {
  std::vector<TaskAtLength> parts;
  parts.push_back({4, Strings(4, 2)});
  parts.push_back({8, Strings(8, 3)});
  return MakeByLengths(std::move(parts), {"pairs", trained});
}

TEST(ByLengthsTest, AsksWhatItsPartsAsk) {
  const auto task = Two(4);
  ASSERT_EQ(task->size(), 5);
  const auto second = Strings(8, 3);
  for (int64_t index = 0; index < second->size(); ++index) {
    EXPECT_EQ(task->PromptLength(2 + index), second->PromptLength(index));
    EXPECT_EQ(task->AnswerLength(2 + index), second->AnswerLength(index));
    ORDO_ASSERT_OK_AND_ASSIGN(const Question question,
                              task->Generate(7, 2 + index));
    ORDO_ASSERT_OK_AND_ASSIGN(const Question same, second->Generate(7, index));
    EXPECT_EQ(question.prompt, same.prompt);
    EXPECT_EQ(question.answer, same.answer);
    EXPECT_EQ(question.places, same.places);
  }
}

TEST(ByLengthsTest, ItemsAreCalledByTheirLength) {
  const auto task = Two(4);
  std::set<std::string> ids;
  for (int64_t index = 0; index < task->size(); ++index) {
    ids.insert(task->ItemId(7, index));
    EXPECT_EQ(task->UnitId(7, index), task->ItemId(7, index));
  }
  EXPECT_THAT(
      ids, ::testing::ElementsAre("4/7-0", "4/7-1", "8/7-0", "8/7-1", "8/7-2"));
}

// Each length is asked with the same seeds.
TEST(ByLengthsTest, AUnitOfSeveralItemsIsOneAtAllLengths) {
  std::vector<TaskAtLength> parts;
  for (const int64_t length : {1, 4}) {
    passkey::PasskeyTestsOptions options;
    options.min_length = options.max_length = length;
    options.unit = 20;
    options.samples = 3;
    parts.push_back({length, passkey::MakePasskeyTests(options)});
  }
  const auto task = MakeByLengths(std::move(parts), {"length", 0});
  ASSERT_EQ(task->size(), 6);
  EXPECT_EQ(task->ItemId(7, 4), "4/7-1");
  EXPECT_EQ(task->UnitId(7, 4), task->UnitId(7, 1));
  EXPECT_NE(task->UnitId(7, 4), task->UnitId(7, 2));
  Marked marked;
  for (int64_t index = 0; index < task->size(); ++index) {
    const size_t size = task->Generate(1, index)->answer.size();
    marked.answers.emplace_back(size, index % 3 == 0 ? 1 : 0);
  }
  // Of three tests: a second length, of the same ones, tells nothing new.
  const Scores scores = task->Score(marked);
  EXPECT_NEAR(scores.standard_errors.at("error_4"), 1.0 / 3, 1e-12);
  EXPECT_NEAR(scores.standard_errors.at("error"), 1.0 / 3, 1e-12);
}

// Every answer right at the first length, and at the second those of the first
// string alone.
Marked Answers(const EvaluationTask& task) {
  Marked marked;
  for (int64_t index = 0; index < task.size(); ++index) {
    const size_t size = task.Generate(1, index)->answer.size();
    marked.answers.emplace_back(size, index < 3 ? 1 : 0);
  }
  return marked;
}

// Tokens that the questions from `begin` to before `end` ask for.
int64_t NumAnswers(const EvaluationTask& task, int64_t begin, int64_t end) {
  int64_t count = 0;
  for (int64_t index = begin; index < end; ++index) {
    count += static_cast<int64_t>(task.Generate(1, index)->answer.size());
  }
  return count;
}

TEST(ByLengthsTest, ScoresEachLengthAndTheirMean) {
  const auto task = Two(4);
  const Scores scores = task->Score(Answers(*task));
  EXPECT_EQ(scores.metrics.at("error_4"), 0);
  const double second = scores.metrics.at("error_8");
  EXPECT_GT(second, 0);
  EXPECT_LT(second, 1);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error"), second / 2);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error_longer"), second);
  EXPECT_DOUBLE_EQ(scores.metrics.at("wrong_rows_8"), 2.0 / 3);
  EXPECT_EQ(scores.details["trained_length"], 4);
  ASSERT_EQ(scores.details["by_length"].size(), 2u);
  EXPECT_EQ(scores.details["by_length"][1]["pairs"], 8);
  EXPECT_EQ(scores.details["by_length"][1]["error"], second);
  // Reads, of which a string has several, as the score itself says.
  const auto reads_of_length = NumAnswers(*task, 2, 5);
  ASSERT_GT(reads_of_length, 3);
  EXPECT_EQ(scores.details["by_length"][1]["items"], reads_of_length);
  EXPECT_EQ(scores.sampled.at("error_8").items, reads_of_length);
  const double error = scores.standard_errors.at("error_8");
  EXPECT_GT(error, 0);
  EXPECT_EQ(scores.details["by_length"][1]["standard_error"], error);
  EXPECT_EQ(scores.details["by_length"][1]["units"], 3);
  // Strings of several lengths are drawn apart, and those of four are right.
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error"), error / 2);
  EXPECT_EQ(scores.sampled.at("error_8").units, 3);
  EXPECT_GE(scores.sampled.at("error").units, 3);
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error_longer"), error);
  EXPECT_NEAR(scores.standard_errors.at("wrong_rows_8"), 1.0 / 3, 1e-12);
  EXPECT_THAT(scores.csv, ::testing::StartsWith(absl::StrCat(
                              "pairs,error,items,standard_error\n4,0,",
                              NumAnswers(*task, 0, 2), ",0\n8,")));
  EXPECT_THAT(scores.markdown, ::testing::HasSubstr(absl::StrCat(
                                   "|", reads_of_length, "|\n\n")));
  EXPECT_THAT(scores.markdown, ::testing::HasSubstr("## pairs 8"));
}

// Of a single string the part does not say of how many reads its error is.
TEST(ByLengthsTest, WhereItemsAreNotKnownTheRowHasNone) {
  std::vector<TaskAtLength> parts;
  parts.push_back({8, Strings(8, 1)});
  const auto task = MakeByLengths(std::move(parts), {"pairs", 0});
  const Scores scores = task->Score(Answers(*task));
  EXPECT_FALSE(scores.details["by_length"][0].contains("items"));
  EXPECT_THAT(scores.csv, ::testing::HasSubstr("\n8,0,,\n"));
}

TEST(ByLengthsTest, NothingIsLongerThanWhatIsNotKnown) {
  const auto task = Two(0);
  EXPECT_EQ(task->Score(Answers(*task)).metrics.count("error_longer"), 0u);
}

TEST(ByLengthsTest, WithoutAnErrorOfItsOwnItIsOneLessWhatIsRight) {
  nope::NopeLengthsOptions options;
  options.task = "copy";
  options.min_length = options.max_length = 5;
  options.samples = 4;
  std::vector<TaskAtLength> parts;
  parts.push_back({5, nope::MakeNopeLengths(options)});
  const auto task = MakeByLengths(std::move(parts), {"length", 0});
  Marked marked;
  for (int64_t index = 0; index < task->size(); ++index) {
    const size_t size = task->Generate(1, index)->answer.size();
    marked.answers.emplace_back(size, index == 0 ? 0 : 1);
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("error_5"), 0.25);
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error_5"), 0.25);
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error"), 0.25);
  // What it sums up itself is said once, for all lengths.
  EXPECT_EQ(scores.metrics.count("score_5"), 0u);
}

}  // namespace
}  // namespace ordo::model::tasks
