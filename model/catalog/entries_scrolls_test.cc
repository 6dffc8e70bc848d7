#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/resolve_evaluations.h"

namespace ordo::model::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Violations = std::vector<base::FieldViolation>;

const Entry& Scrolls() { return *Find(Kind::kTrainingTask, "scrolls"); }

ParamMap ParamsOf(
    const std::vector<std::pair<std::string, std::string>>& texts,
    const std::vector<std::pair<std::string, double>>& numbers = {}) {
  ParamMap params;
  for (const auto& [name, text] : texts) params[name].set_string_value(text);
  for (const auto& [name, x] : numbers) params[name].set_number_value(x);
  return params;
}

std::vector<std::string> BadFields(ParamMap params) {
  Violations violations;
  ResolveParams(Scrolls(), "data", &params, &violations);
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(EntriesScrollsTest, AFileIsNeededAndNothingElse) {
  EXPECT_THAT(BadFields(ParamsOf({{"path", "qasper/train.jsonl"}})), IsEmpty());
  EXPECT_THAT(BadFields({}), ElementsAre("data.params.path"));
  EXPECT_THAT(
      BadFields(ParamsOf({{"path", "../train"}, {"tokenizer", "gpt2"}})),
      ElementsAre("data.params.path", "data.params.tokenizer"));
}

// By this the scheduler knows what to look up.
TEST(EntriesScrollsTest, ParametersThatArePathsOfDataSaySo) {
  std::vector<std::string> names;
  for (const Param& param : Scrolls().params) {
    if (param.names_data) names.push_back(param.name);
  }
  EXPECT_THAT(names, UnorderedElementsAre("path", "tokenizer"));
}

TEST(EntriesScrollsTest, AnswersWithTheirEndLeaveRoomForAPrompt) {
  const auto of = [](double answer, double most) {
    return BadFields(ParamsOf(
        {{"path", "t"}}, {{"answer_tokens", answer}, {"max_tokens", most}}));
  };
  EXPECT_THAT(of(7, 9), IsEmpty());
  EXPECT_THAT(of(8, 9), ElementsAre("data.params.answer_tokens"));
}

TEST(EntriesScrollsTest, ModelsReadAllButTheLastToken) {
  ParamMap params = ParamsOf({{"path", "t"}});
  Violations violations;
  ResolveParams(Scrolls(), "", &params, &violations);
  EXPECT_EQ(Scrolls().row_length(params), 8191);
  EXPECT_EQ(VocabularyOf(Scrolls(), params), 260);
}

// Questions are asked as their answers were trained.
TEST(EntriesScrollsTest, QuestionsTakeTokenizerAndMarkFromTheTraining) {
  for (const std::string begin : {"always", "never"}) {
    ordo::training::v1::Data trained_on;
    trained_on.set_task("scrolls");
    *trained_on.mutable_params() =
        ParamsOf({{"path", "t"}, {"tokenizer", "t.model"}, {"begin", begin}});
    Violations violations;
    ResolveData("data", &trained_on, &violations);
    google::protobuf::RepeatedPtrField<ordo::training::v1::Evaluation>
        evaluations;
    evaluations.Add()->set_task("questions");
    *evaluations[0].mutable_params() =
        ParamsOf({{"path", "v"}, {"format", "qasper"}});
    EvaluationsContext context;
    context.trained_on = &trained_on;
    ResolveEvaluations(context, &evaluations, &violations);
    EXPECT_THAT(violations, IsEmpty());
    const Params params(evaluations[0].params());
    EXPECT_EQ(params.String("tokenizer"), "t.model");
    EXPECT_EQ(params.String("begin"), begin);
    EXPECT_EQ(params.String("path"), "v");
  }
}

}  // namespace
}  // namespace ordo::model::catalog
