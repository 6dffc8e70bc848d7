#include "model/catalog/tokens.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Data;
using ordo::training::v1::Evaluation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Data TrainedOn(const std::string& task, const std::string& tokenizer = "") {
  Data data;
  data.set_task(task);
  auto& params = *data.mutable_params();
  if (task == "text") {
    params["data"].mutable_list_value()->add_values()->set_string_value(
        "books");
  }
  if (!tokenizer.empty()) params["tokenizer"].set_string_value(tokenizer);
  Violations violations;
  ResolveParams(*Find(Kind::kTrainingTask, task), "data", &params, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return data;
}

Evaluation Asked(const std::string& task, const std::string& tokenizer = "") {
  Evaluation evaluation;
  evaluation.set_task(task);
  auto& params = *evaluation.mutable_params();
  if (!tokenizer.empty()) params["tokenizer"].set_string_value(tokenizer);
  if (task == "questions") params["path"].set_string_value("own.jsonl");
  return evaluation;
}

// "field: description", as a job's evaluations are refused.
std::vector<std::string> Refused(const Data& trained_on,
                                 const Evaluation& evaluation) {
  google::protobuf::RepeatedPtrField<Evaluation> evaluations;
  *evaluations.Add() = evaluation;
  EvaluationsContext context;
  context.trained_on = &trained_on;
  Violations violations;
  ResolveEvaluations(context, &evaluations, &violations);
  std::vector<std::string> texts;
  for (const auto& violation : violations) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(TokensTest, TasksOfOneVocabularyAreAskedOfOneModel) {
  for (const char* grid :
       {"addition_grid", "multiplication_grid", "bitwise_or_grid"}) {
    EXPECT_THAT(Refused(TrainedOn("multiplication"), Asked(grid)), IsEmpty());
  }
  EXPECT_THAT(Refused(TrainedOn("passkey"), Asked("needle")), IsEmpty());
  EXPECT_THAT(Refused(TrainedOn("text"), Asked("passkey")), IsEmpty());
  EXPECT_THAT(Refused(TrainedOn("passkey"), Asked("questions", "bytes")),
              IsEmpty());
  EXPECT_THAT(Refused(TrainedOn("nope"), Asked("nope")), IsEmpty());
  // Its own rows are read.
  EXPECT_THAT(Refused(TrainedOn("counting"), Asked("stability")), IsEmpty());
}

TEST(TokensTest, OtherTokensAreRefusedWithTheField) {
  EXPECT_THAT(
      Refused(TrainedOn("flip_flop"), Asked("counting")),
      ElementsAre("evaluations[0].task: counting has other tokens than the "
                  "model, which was trained on flip_flop: ids do not mean the "
                  "same; take a task of the same tokens, or a model that was "
                  "trained on these"));
  EXPECT_THAT(
      Refused(TrainedOn("addition"), Asked("sorting_grid")),
      ElementsAre(HasSubstr("evaluations[0].task: sorting_grid has other")));
  EXPECT_THAT(Refused(TrainedOn("text", "t.model"), Asked("addition_grid")),
              ElementsAre(HasSubstr("which was trained with t.model: ids")));
  EXPECT_THAT(Refused(TrainedOn("addition"), Asked("questions", "bytes")),
              ElementsAre(HasSubstr(
                  "evaluations[0].params.tokenizer: is bytes, and the model "
                  "was trained on addition: ids do not mean the same; take")));
  EXPECT_THAT(
      Refused(TrainedOn("text", "t.model"), Asked("questions", "bytes")),
      ElementsAre("evaluations[0].params.tokenizer: is bytes, and the model "
                  "was trained with t.model: ids do not mean the same; leave "
                  "it out, which takes that of the training"));
  EXPECT_THAT(
      Refused(TrainedOn("text"), Asked("questions", "t.model")),
      ElementsAre(HasSubstr("is t.model, and the model was trained with "
                            "bytes: ids do not mean the same; leave it out")));
}

// A .model and a tokenizer.json may be of one vocabulary.
TEST(TokensTest, AnotherFileIsOnlySaid) {
  const Data data = TrainedOn("text", "t.model");
  EXPECT_THAT(Refused(data, Asked("questions", "tokenizer.json")), IsEmpty());
  google::protobuf::RepeatedPtrField<Evaluation> evaluations;
  *evaluations.Add() = Asked("questions", "t.model");
  *evaluations.Add() = Asked("addition_grid");
  *evaluations.Add() = Asked("questions", "tokenizer.json");
  std::vector<std::string> notices;
  AddTokenizerNotices(evaluations, data, &notices);
  AddTokenizerNotices(evaluations, data, &notices);
  EXPECT_THAT(notices, ElementsAre(HasSubstr(
                           "evaluations[2].params.tokenizer is tokenizer.json, "
                           "and the model was trained with t.model")));
  notices.clear();
  AddTokenizerNotices(evaluations, TrainedOn("addition"), &notices);
  EXPECT_THAT(notices, IsEmpty());
}

}  // namespace
}  // namespace ordo::model::catalog
