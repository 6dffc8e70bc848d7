#include "model/tasks/question_params.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/text/questions/scrolls.h"
#include "model/text/task/questions_task.h"

namespace ordo::model::tasks {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

const catalog::Entry& Questions() {
  return *catalog::Find(catalog::Kind::kEvaluationTask, "questions");
}

// Twenty sums in words.
class QuestionParamsTest : public ::testing::Test {
 protected:
  QuestionParamsTest() {
    access_.files = &files_;
    access_.data_folder = folder_.Path("data");
    std::string lines =
        "{\"prompt\": \"{id} + 1 =\", \"target\": \"{sum}\", "
        "\"metric\": \"exact_match\", \"max_answer_tokens\": 6}\n";
    for (int i = 0; i < 20; ++i) {
      absl::StrAppend(&lines, "{\"id\": ", i, ", \"sum\": ", i + 1, "}\n");
    }
    ORDO_EXPECT_OK(files_.MakeFolders(access_.data_folder));
    ORDO_EXPECT_OK(
        base::AtomicWrite(files_, folder_.Path("data/sums.jsonl"), lines));
    params_["path"].set_string_value("sums.jsonl");
    params_["tokenizer"].set_string_value("bytes");
  }

  // With the defaults of the catalogue.
  absl::StatusOr<std::unique_ptr<EvaluationTask>> Open() {
    catalog::ParamMap params = params_;
    std::vector<base::FieldViolation> violations;
    catalog::ResolveParams(Questions(), "", &params, &violations);
    EXPECT_TRUE(violations.empty()) << violations[0].description;
    return QuestionsOf(catalog::Params(params), nullptr, access_);
  }
  std::unique_ptr<EvaluationTask> Opened() {
    auto task = Open();
    EXPECT_TRUE(task.ok()) << task.status();
    return *std::move(task);
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  DataAccess access_;
  catalog::ParamMap params_;
};

TEST_F(QuestionParamsTest, FormatsOfTheCatalogueAreThoseThatAreRead) {
  EXPECT_EQ(catalog::FindParam(Questions(), "format")->choices,
            text::task::QuestionFormats());
}

TEST_F(QuestionParamsTest, DefaultsAskAllOfAFileAsItSays) {
  const auto task = Opened();
  EXPECT_EQ(task->size(), 20);
  EXPECT_EQ(task->AnswerLength(0), 6);
  EXPECT_EQ(task->Generate(1, 3)->prompt.front(), kBegin);
  Marked marked;
  marked.texts.assign(20, "7");
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("exact_match"), 0.05);
  EXPECT_EQ(scores.details["metric"], "exact_match");
}

TEST_F(QuestionParamsTest, EachParameterDoesWhatItSays) {
  params_["begin"].set_string_value("never");
  params_["metric"].set_string_value("f1");
  params_["max_questions"].set_number_value(5);
  params_["answer_tokens"].set_number_value(3);
  params_["max_tokens"].set_number_value(8);
  const auto task = Opened();
  EXPECT_EQ(task->size(), 5);
  EXPECT_EQ(task->AnswerLength(0), 3);
  // "0 + 1 =" has seven bytes, of which there is room for five.
  EXPECT_EQ(task->tokenizer().Decode(task->Generate(1, 0)->prompt), "+ 1 =");
  Marked marked;
  marked.texts.resize(5);
  EXPECT_EQ(task->Score(marked).details["metric"], "f1");
  params_.erase("answer_tokens");
  params_["max_tokens"].set_number_value(6);
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("params.max_tokens")));
}

TEST_F(QuestionParamsTest, ExamplesAreReadWhereTheyAreSaidToBe) {
  params_["format"].set_string_value("arc");
  params_["few_shot"].set_number_value(2);
  params_["examples"].set_string_value("train.jsonl");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr("params.examples: ")));
}

TEST_F(QuestionParamsTest, ATokenizerThatNobodySaysIsAskedFor) {
  params_.erase("tokenizer");
  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("params.tokenizer: is needed")));
}

const catalog::Entry& Scrolls() {
  return *catalog::Find(catalog::Kind::kTrainingTask, "scrolls");
}

TEST_F(QuestionParamsTest, SetsOfTheCatalogueAreThoseThatAreRead) {
  std::vector<std::string> names;
  for (const auto& set : text::questions::ScrollsSets()) {
    names.emplace_back(set.name);
  }
  EXPECT_EQ(catalog::FindParam(Scrolls(), "set")->choices, names);
}

TEST_F(QuestionParamsTest, EachParameterOfATrainingDoesWhatItSays) {
  ORDO_EXPECT_OK(base::AtomicWrite(
      files_, folder_.Path("data/train.jsonl"),
      R"({"id": "q", "input": "Who is it?", "output": "It is Ann"})"));
  const auto row_of = [&](catalog::ParamMap params) {
    params["path"].set_string_value("train.jsonl");
    std::vector<base::FieldViolation> violations;
    catalog::ResolveParams(Scrolls(), "", &params, &violations);
    EXPECT_TRUE(violations.empty()) << violations[0].description;
    auto task = ScrollsOf(catalog::Params(params), access_);
    EXPECT_TRUE(task.ok()) << task.status();
    return (*task)->Generate(1, 0).value().tokens;
  };
  // 11 and 11, with the marks.
  EXPECT_EQ(row_of({}).size(), 22u);
  catalog::ParamMap params;
  params["begin"].set_string_value("never");
  params["set"].set_string_value("qmsum");
  params["answer_begin"].set_string_value("never");
  params["answer_tokens"].set_number_value(5);
  params["max_tokens"].set_number_value(14);
  // Eight of the prompt, of which the last seven, and six of the answer.
  std::string text = "Creport:It is";
  std::vector<int64_t> tokens;
  for (const char byte : text) tokens.push_back(4 + byte);
  tokens.push_back(kEnd);
  EXPECT_EQ(row_of(params), tokens);
}

}  // namespace
}  // namespace ordo::model::tasks
