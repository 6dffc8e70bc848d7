#include "report/runs/numbers.h"

#include <string>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::report::runs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Json(const Runs& runs) {
  return base::WriteMessage(ToJson(runs), base::TextForm::kJson);
}

TEST(NumbersTest, ScoresHaveTheirErrorsAndTheirCheckpoint) {
  Runs runs;
  Evaluated& evaluated = runs.evaluations.emplace_back();
  evaluated.metrics = {"a",
                       100,
                       "copies",
                       "selective_copy",
                       {{"error", 0.25}},
                       {{"error", 0.125}}};
  evaluated.source.models = {{"jobs/a/checkpoints/100-1", "c0ffee"}};
  const std::string json = Json(runs);
  EXPECT_THAT(json, HasSubstr("\"checkpoint_sha256\":\"c0ffee\""));
  EXPECT_THAT(json, HasSubstr("\"metrics\":{\"error\":0.25}"));
  EXPECT_THAT(json, HasSubstr("\"standard_errors\":{\"error\":0.125}"));
  EXPECT_EQ(MetricsCsv(runs),
            "model,step,evaluation,task,metric,value,standard error\r\n"
            "a,100,copies,selective_copy,error,0.25,0.125\r\n");
  EXPECT_EQ(LossesCsv(runs), "");
  EXPECT_THAT(json, Not(HasSubstr("notices")));
}

TEST(NumbersTest, NoticesAreThereForPrograms) {
  Runs runs;
  runs.notices = {"a: its tokenizer is another"};
  EXPECT_THAT(Json(runs),
              HasSubstr("\"notices\":[\"a: its tokenizer is another\"]"));
}

TEST(NumbersTest, TokenizersAreNamed) {
  Runs runs;
  Evaluated& evaluated = runs.evaluations.emplace_back();
  evaluated.metrics = {"a", 100, "text", "text", {{"perplexity", 11}}};
  evaluated.metrics.tokenizer = "bytes with 260 tokens";
  Trained& trained = runs.trained.emplace_back();
  trained.losses = {{1, 3.0}};
  trained.tokenizer = "sp.model";
  const std::string json = Json(runs);
  EXPECT_THAT(json, HasSubstr("\"tokenizer\":\"bytes with 260 tokens\""));
  EXPECT_THAT(json, HasSubstr("\"tokenizer\":\"sp.model\""));
}

TEST(NumbersTest, OfATrainingAllLossesAreRowsAndTheLastIsItsNumber) {
  Runs runs;
  Trained& trained = runs.trained.emplace_back();
  trained.model = "a";
  trained.losses = {{1, 3.0}, {2, 2.5}};
  runs.trained.push_back({"without", {}, {}});
  EXPECT_THAT(
      Json(runs),
      HasSubstr("\"training\":[{\"loss\":2.5,\"model\":\"a\",\"step\":2}]"));
  EXPECT_EQ(LossesCsv(runs), "model,step,loss\r\na,1,3\r\na,2,2.5\r\n");
}

}  // namespace
}  // namespace ordo::report::runs
