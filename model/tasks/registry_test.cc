#include "model/tasks/registry.h"

#include <algorithm>

#include "absl/status/status.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

training::v1::Data AdditionData(int max_digits) {
  ordo::training::v1::Data data;
  data.set_task("addition");
  (*data.mutable_params())["max_digits"].set_number_value(max_digits);
  return data;
}

TEST(Registry, MakesATrainingTaskWithItsParameters) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task, MakeTrainingTask(AdditionData(7)));
  EXPECT_EQ(task->row_length(), 25);
}

TEST(Registry, TellsTheGridWhatTheModelWasTrainedOn) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("addition_grid");
  (*evaluation.mutable_params())["max_digits"].set_number_value(4);
  (*evaluation.mutable_params())["samples"].set_number_value(2);
  const ordo::training::v1::Data data = AdditionData(3);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, &data));
  ASSERT_EQ(task->size(), 32);
  const Scores scores = task->Score({1, std::vector<Marks>(32, Marks{1})});
  EXPECT_EQ(scores.details["trained_digits"], 3);
}

TEST(Registry, NamesTheNearestTask) {
  ordo::training::v1::Data data;
  data.set_task("additon");
  EXPECT_THAT(
      MakeTrainingTask(data),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'addition'")));
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("addition_gird");
  EXPECT_THAT(MakeEvaluationTask(evaluation, nullptr),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'addition_grid'")));
}

std::vector<std::string> NamesInCatalog(catalog::Kind kind) {
  std::vector<std::string> names;
  for (const catalog::Entry* entry : catalog::EntriesOf(kind)) {
    names.push_back(entry->name);
  }
  return names;
}

TEST(Registry, HoldsExactlyTheTasksOfTheCatalogue) {
  EXPECT_EQ(TrainingTaskNames(), NamesInCatalog(catalog::Kind::kTrainingTask));
  EXPECT_EQ(EvaluationTaskNames(),
            NamesInCatalog(catalog::Kind::kEvaluationTask));
}

TEST(Registry, MakesEveryTaskWithItsDefaultsAndTheCataloguesVocabulary) {
  for (const std::string& name : TrainingTaskNames()) {
    ordo::training::v1::Data data;
    data.set_task(name);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task, MakeTrainingTask(data));
    EXPECT_EQ(
        task->tokenizer().vocabulary_size(),
        catalog::Find(catalog::Kind::kTrainingTask, name)->vocabulary_size);
  }
  for (const std::string& name : EvaluationTaskNames()) {
    ordo::training::v1::Evaluation evaluation;
    evaluation.set_task(name);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                              MakeEvaluationTask(evaluation, nullptr));
    EXPECT_EQ(
        task->tokenizer().vocabulary_size(),
        catalog::Find(catalog::Kind::kEvaluationTask, name)->vocabulary_size);
  }
}

// The model sees all of a row but its last token.
TEST(Registry, RowsAreAsLongAsTheCatalogueSays) {
  for (const int max_digits : {1, 2, 5, 100}) {
    const training::v1::Data data = AdditionData(max_digits);
    ORDO_ASSERT_OK_AND_ASSIGN(const auto task, MakeTrainingTask(data));
    const catalog::Entry& entry =
        *catalog::Find(catalog::Kind::kTrainingTask, data.task());
    EXPECT_EQ(entry.row_length(data.params()), task->row_length() - 1);
  }
}

TEST(Registry, QuestionsWithAnswersAreAsLongAsTheCatalogueSays) {
  ordo::training::v1::Evaluation evaluation;
  evaluation.set_task("addition_grid");
  (*evaluation.mutable_params())["max_digits"].set_number_value(3);
  (*evaluation.mutable_params())["samples"].set_number_value(9);
  ORDO_ASSERT_OK_AND_ASSIGN(const auto task,
                            MakeEvaluationTask(evaluation, nullptr));
  int64_t longest = 0;
  for (int64_t i = 0; i < task->size(); ++i) {
    const Question question = task->Generate(1, i);
    longest = std::max<int64_t>(
        longest, question.prompt.size() + question.answer.size() - 1);
  }
  EXPECT_EQ(catalog::Find(catalog::Kind::kEvaluationTask, "addition_grid")
                ->row_length(evaluation.params()),
            longest);
}

}  // namespace
}  // namespace ordo::model::tasks
