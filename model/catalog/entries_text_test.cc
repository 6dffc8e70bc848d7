#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Violations = std::vector<base::FieldViolation>;

constexpr Kind kTraining = Kind::kTrainingTask;
constexpr Kind kEvaluation = Kind::kEvaluationTask;

void SetStrings(const std::string& name, const std::vector<std::string>& values,
                ParamMap* params) {
  auto* list = (*params)[name].mutable_list_value();
  list->clear_values();
  for (const auto& text : values) list->add_values()->set_string_value(text);
}

void SetNumbers(const std::string& name, const std::vector<double>& values,
                ParamMap* params) {
  auto* list = (*params)[name].mutable_list_value();
  list->clear_values();
  for (const double x : values) list->add_values()->set_number_value(x);
}

ParamMap Books() {
  ParamMap params;
  SetStrings("data", {"books"}, &params);
  return params;
}

std::vector<std::string> BadFields(Kind kind, ParamMap params) {
  Violations violations;
  ResolveParams(*Find(kind, "text"), "data", &params, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(EntriesTextTest, TrainingNeedsDataAndNothingElse) {
  EXPECT_THAT(BadFields(kTraining, Books()), IsEmpty());
  EXPECT_THAT(BadFields(kTraining, {}), ElementsAre("data.params.data"));
}

// By this the scheduler knows what to look up.
TEST(EntriesTextTest, ParametersThatArePathsOfDataSaySo) {
  const auto marked = [](Kind kind, const char* name) {
    std::vector<std::string> names;
    for (const Param& param : Find(kind, name)->params) {
      if (param.names_data) names.push_back(param.name);
    }
    return names;
  };
  using ::testing::UnorderedElementsAre;
  EXPECT_THAT(marked(kTraining, "text"),
              UnorderedElementsAre("data", "tokenizer"));
  EXPECT_THAT(marked(kEvaluation, "text"),
              UnorderedElementsAre("data", "tokenizer"));
  EXPECT_THAT(marked(kEvaluation, "questions"),
              UnorderedElementsAre("path", "examples", "tokenizer"));
}

TEST(EntriesTextTest, PathsThatCannotBeMeantAreNamed) {
  for (const char* path :
       {"", "../books", "books/../../x", "a//b", "./books", ".stores/x",
        "/srv/../etc", "/srv/./x", "books/", "/srv//x"}) {
    ParamMap params;
    SetStrings("data", {"books", path}, &params);
    EXPECT_THAT(BadFields(kTraining, params),
                ElementsAre("data.params.data[1]"))
        << path;
  }
  ParamMap twice;
  SetStrings("data", {"/srv/.data/books", "books", "books"}, &twice);
  EXPECT_THAT(BadFields(kTraining, twice), ElementsAre("data.params.data[2]"));
}

TEST(EntriesTextTest, WeightsAreOneForEachAndAboveZero) {
  ParamMap params;
  SetStrings("data", {"a", "b"}, &params);
  SetNumbers("weights", {1, 0.5}, &params);
  EXPECT_THAT(BadFields(kTraining, params), IsEmpty());
  SetNumbers("weights", {1, 0}, &params);
  EXPECT_THAT(BadFields(kTraining, params),
              ElementsAre("data.params.weights[1]"));
  SetNumbers("weights", {1}, &params);
  EXPECT_THAT(BadFields(kTraining, params), ElementsAre("data.params.weights"));
}

TEST(EntriesTextTest, ATokenizerIsBytesOrAFileOfAKnownKind) {
  const std::pair<const char*, bool> cases[] = {
      {"bytes", true}, {"llama/tokenizer.json", true}, {"/m/t.model", true},
      {"gpt2", false}, {"../t.json", false},           {"", false}};
  for (const auto& [tokenizer, valid] : cases) {
    ParamMap params = Books();
    params["tokenizer"].set_string_value(tokenizer);
    EXPECT_EQ(BadFields(kTraining, params).empty(), valid) << tokenizer;
  }
}

TEST(EntriesTextTest, AnElementThatIsNoStringIsNamed) {
  ParamMap params = Books();
  params["data"].mutable_list_value()->add_values()->set_number_value(3);
  Violations violations;
  ResolveParams(*Find(kTraining, "text"), "data", &params, &violations);
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "data.params.data");
  EXPECT_THAT(violations[0].description,
              HasSubstr("element 1 must be a string, is a number"));
}

TEST(EntriesTextTest, TheVocabularyIsKnownOfBytesOnly) {
  const Entry& entry = *Find(kTraining, "text");
  ParamMap params = Books();
  Violations violations;
  ResolveParams(entry, "", &params, &violations);
  EXPECT_EQ(VocabularyOf(entry, params), 260);
  params["tokenizer"].set_string_value("t.model");
  EXPECT_EQ(VocabularyOf(entry, params), 0);
  EXPECT_EQ(VocabularyOf(*Find(kTraining, "addition"), {}), 19);
}

TEST(EntriesTextTest, LengthsAreWholeDifferentAndLongerThanAStride) {
  ParamMap params;
  SetNumbers("lengths", {512, 1024, 256.5, 512}, &params);
  EXPECT_THAT(BadFields(kEvaluation, params),
              ElementsAre("data.params.lengths[2]", "data.params.lengths[3]"));
  params["protocol"].set_string_value("stride");
  SetNumbers("lengths", {512, 256}, &params);
  EXPECT_THAT(BadFields(kEvaluation, params),
              ElementsAre("data.params.lengths[1]"));
}

TEST(EntriesTextTest, DataOfItsOwnIsSplitOnlyByAShare) {
  ParamMap params = Books();
  EXPECT_THAT(BadFields(kEvaluation, params),
              ElementsAre("data.params.held_out"));
  params["split"].set_string_value("all");
  EXPECT_THAT(BadFields(kEvaluation, params), IsEmpty());
}

class TrainedText : public ::testing::Test {
 protected:
  TrainedText() {
    trained_on_.set_task("text");
    *trained_on_.mutable_params() = Books();
    SetParam("tokenizer").set_string_value("t.model");
    SetParam("length").set_number_value(128);
    SetParam("format").set_string_value("lines");
    Violations violations;
    ResolveData("data", &trained_on_, &violations);
    EXPECT_THAT(violations, IsEmpty());
    context_.trained_on = &trained_on_;
    evaluations_.Add()->set_task("text");
  }
  google::protobuf::Value& SetParam(const char* name) {
    return (*trained_on_.mutable_params())[name];
  }
  std::vector<std::string> Resolve() {
    Violations violations;
    ResolveEvaluations(context_, &evaluations_, &violations);
    std::vector<std::string> fields;
    for (const auto& violation : violations) fields.push_back(violation.field);
    return fields;
  }

  ordo::training::v1::Data trained_on_;
  EvaluationsContext context_;
  google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>
      evaluations_;
};

TEST_F(TrainedText, AnEvaluationTakesWhatItLeavesOut) {
  EXPECT_THAT(Resolve(), IsEmpty());
  const Params params(evaluations_[0].params());
  EXPECT_THAT(params.Strings("data"), ElementsAre("books"));
  EXPECT_EQ(params.String("format"), "lines");
  EXPECT_EQ(params.String("tokenizer"), "t.model");
  EXPECT_EQ(params.Number("held_out"), 0.01);
  EXPECT_THAT(params.Numbers("lengths"), ElementsAre(128, 256, 512));
  // Once more changes nothing.
  EXPECT_THAT(Resolve(), IsEmpty());
  EXPECT_THAT(Params(evaluations_[0].params()).Numbers("lengths"),
              ElementsAre(128, 256, 512));
}

TEST_F(TrainedText, OfDataOfItsOwnOnlyTheTokenizerIsTaken) {
  SetStrings("data", {"papers"}, evaluations_[0].mutable_params());
  (*evaluations_[0].mutable_params())["split"].set_string_value("all");
  EXPECT_THAT(Resolve(), IsEmpty());
  const Params params(evaluations_[0].params());
  EXPECT_THAT(params.Strings("data"), ElementsAre("papers"));
  EXPECT_EQ(params.String("format"), "file");
  EXPECT_EQ(params.String("tokenizer"), "t.model");
}

TEST_F(TrainedText, WhatIsSaidOfDataThatIsNotGivenIsRefused) {
  (*evaluations_[0].mutable_params())["held_out"].set_number_value(0.5);
  EXPECT_THAT(Resolve(), ElementsAre("evaluations[0].params.held_out"));
}

TEST_F(TrainedText, LengthsThatAnEncodingCannotServeAreRefused) {
  context_.max_length = 300;
  EXPECT_THAT(Resolve(), ElementsAre("evaluations[0].params.lengths[2]"));
  SetNumbers("lengths", {128, 256}, evaluations_[0].mutable_params());
  EXPECT_THAT(Resolve(), IsEmpty());
}

TEST(EntriesTextTest, AModelThatSeesWhatComesIsNotTrainedOnText) {
  ordo::training::v1::TrainSpec spec;
  spec.mutable_data()->set_task("text");
  *spec.mutable_data()->mutable_params() = Books();
  spec.mutable_encoding()->set_name("rope");
  spec.mutable_training()->set_steps(1);
  EXPECT_TRUE(ResolveTrainSpec(spec).ok());
  spec.mutable_model()->set_causal(false);
  const auto violations =
      base::FieldViolations(ResolveTrainSpec(spec).status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "data.task");
}

// What is refused of a model that is trained on documents apart, in rows of 255
// tokens, under the encoding.
std::vector<base::FieldViolation> Apart(const std::string& encoding) {
  ordo::training::v1::TrainSpec spec;
  spec.mutable_data()->set_task("text");
  *spec.mutable_data()->mutable_params() = Books();
  (*spec.mutable_data()->mutable_params())["separate_documents"].set_bool_value(
      true);
  EXPECT_TRUE(base::ReadMessage(encoding, base::TextForm::kYaml,
                                spec.mutable_encoding())
                  .ok());
  spec.mutable_training()->set_steps(1);
  return base::FieldViolations(ResolveTrainSpec(spec).status());
}

TEST(EntriesTextTest, DocumentsApartNeedRowsThatDoNotTurnThem) {
  for (const char* fits :
       {"{name: rope}", "{name: tape}", "{name: yarn}",
        "{name: dynamic_ntk, params: {trained_length: 255}}",
        "{name: tape, with: [{name: yarn, params: {trained_length: 255}}]}"}) {
    EXPECT_THAT(Apart(fits), IsEmpty()) << fits;
  }
  for (const char* turns :
       {"{name: dynamic_ntk, params: {trained_length: 254}}",
        "{name: dynamic_linear, params: {trained_length: 254}}",
        "{name: per_layer, with: [{name: rope}, {name: dynamic_ntk, params: "
        "{trained_length: 254}}]}",
        "{name: tape, with: [{name: yarn, params: {trained_length: 254}}]}"}) {
    const auto violations = Apart(turns);
    ASSERT_THAT(violations, SizeIs(1)) << turns;
    EXPECT_EQ(violations[0].field, "data.params.separate_documents");
    EXPECT_THAT(violations[0].description,
                AllOf(HasSubstr("up to 255 tokens"),
                      HasSubstr("trained_length of 254")));
  }
}

// What is refused of questions with these parameters, each "name value".
std::vector<std::string> BadQuestions(
    const std::vector<std::pair<std::string, std::string>>& texts,
    const std::vector<std::pair<std::string, double>>& numbers = {}) {
  ParamMap params;
  for (const auto& [name, text] : texts) params[name].set_string_value(text);
  for (const auto& [name, x] : numbers) params[name].set_number_value(x);
  Violations violations;
  ResolveParams(*Find(kEvaluation, "questions"), "e", &params, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(EntriesTextTest, QuestionsNeedAFileAndNothingElse) {
  EXPECT_THAT(BadQuestions({{"path", "own.jsonl"}}), IsEmpty());
  EXPECT_THAT(BadQuestions({}), ElementsAre("e.params.path"));
  EXPECT_THAT(BadQuestions({{"path", "../own.jsonl"}}),
              ElementsAre("e.params.path"));
  EXPECT_THAT(BadQuestions({{"path", "own.jsonl"}, {"tokenizer", "gpt2"}}),
              ElementsAre("e.params.tokenizer"));
}

TEST(EntriesTextTest, UnknownParametersAndFormatsHaveTheNearest) {
  ParamMap params;
  params["path"].set_string_value("own.jsonl");
  params["format"].set_string_value("qaspr");
  params["few_shots"].set_number_value(5);
  Violations violations;
  ResolveParams(*Find(kEvaluation, "questions"), "e", &params, &violations);
  ASSERT_THAT(violations, SizeIs(2));
  EXPECT_EQ(violations[0].field, "e.params.few_shots");
  EXPECT_THAT(violations[0].description, HasSubstr("'few_shot'"));
  EXPECT_EQ(violations[1].field, "e.params.format");
  EXPECT_THAT(violations[1].description, HasSubstr("'qasper'"));
}

TEST(EntriesTextTest, ExamplesAreOfMmluAndArcAndHaveAFile) {
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "mmlu"}}, {{"few_shot", 5}}),
      ElementsAre("e.params.examples"));
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "arc"}, {"examples", "train"}},
                   {{"few_shot", 5}}),
      IsEmpty());
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "arc"}, {"examples", "a//b"}},
                   {{"few_shot", 5}}),
      ElementsAre("e.params.examples"));
  EXPECT_THAT(BadQuestions({{"path", "t"}, {"examples", "dev"}}),
              ElementsAre("e.params.examples"));
  EXPECT_THAT(BadQuestions({{"path", "t"}}, {{"few_shot", 5}}),
              ElementsAre("e.params.few_shot"));
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "qmsum"}}, {{"few_shot", 5}}),
      ElementsAre("e.params.few_shot"));
}

TEST(EntriesTextTest, MetricsAndAnswersFitTheFormat) {
  const auto with = [](const char* format, const char* metric) {
    return BadQuestions(
        {{"path", "t"}, {"format", format}, {"metric", metric}});
  };
  EXPECT_THAT(with("mmlu", "acc_norm"), IsEmpty());
  EXPECT_THAT(with("mmlu", "f1"), ElementsAre("e.params.metric"));
  EXPECT_THAT(with("quality", "f1"), IsEmpty());
  EXPECT_THAT(with("quality", "acc"), ElementsAre("e.params.metric"));
  // Only its file says what a task of one's own has.
  EXPECT_THAT(with("own", "acc"), IsEmpty());
  EXPECT_THAT(with("own", "rouge"), IsEmpty());
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "arc"}}, {{"answer_tokens", 9}}),
      ElementsAre("e.params.answer_tokens"));
  EXPECT_THAT(BadQuestions({{"path", "t"}, {"format", "arc"}}, {{"top_k", 3}}),
              ElementsAre("e.params.top_k"));
  EXPECT_THAT(
      BadQuestions({{"path", "t"}, {"format", "qmsum"}}, {{"top_k", 3}}),
      IsEmpty());
  EXPECT_THAT(
      BadQuestions({{"path", "t"}}, {{"answer_tokens", 9}, {"max_tokens", 9}}),
      ElementsAre("e.params.answer_tokens"));
}

TEST_F(TrainedText, QuestionsBeginAsItsDocumentsDoUnlessTheySay) {
  evaluations_[0].set_task("questions");
  const auto begin = [this](const char* format, const char* marks,
                            const char* said) {
    SetParam("format").set_string_value(format);
    SetParam("marks").set_string_value(marks);
    auto& params = *evaluations_[0].mutable_params();
    params.clear();
    params["path"].set_string_value("own.jsonl");
    if (*said != 0) params["begin"].set_string_value(said);
    EXPECT_THAT(Resolve(), IsEmpty());
    return Params(params).String("begin");
  };
  EXPECT_EQ(begin("lines", "begin", ""), "always");
  EXPECT_EQ(begin("lines", "both", ""), "always");
  EXPECT_EQ(begin("lines", "end", ""), "never");
  EXPECT_EQ(begin("lines", "none", "as_trained"), "never");
  EXPECT_EQ(begin("lines", "none", "always"), "always");
  EXPECT_EQ(begin("lines", "begin", "never"), "never");
  // What stands in flat token files is not known.
  EXPECT_EQ(begin("tokens", "none", ""), "as_trained");
}

TEST_F(TrainedText, QuestionsTakeItsTokenizerAndNothingElse) {
  evaluations_[0].set_task("questions");
  (*evaluations_[0].mutable_params())["path"].set_string_value("own.jsonl");
  EXPECT_THAT(Resolve(), IsEmpty());
  EXPECT_EQ(Params(evaluations_[0].params()).String("tokenizer"), "t.model");
  EXPECT_EQ(Params(evaluations_[0].params()).String("format"), "own");
  context_.max_length = 300;
  EXPECT_THAT(Resolve(), ElementsAre("evaluations[0].params.max_tokens"));
  (*evaluations_[0].mutable_params())["max_tokens"].set_number_value(301);
  EXPECT_THAT(Resolve(), IsEmpty());
}

}  // namespace
}  // namespace ordo::model::catalog
