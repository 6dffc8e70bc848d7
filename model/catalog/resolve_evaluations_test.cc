#include "model/catalog/resolve_evaluations.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeBidirectional;
using testing::Minimal;

TEST(ResolveEvaluationsTest, EvaluationIsAtTheEndUnlessEveryStepsSaysMore) {
  v1::TrainSpec spec = Minimal();
  spec.add_evaluations()->set_task("addition_grid");
  v1::Evaluation* often = spec.add_evaluations();
  often->set_task("addition_grid");
  often->set_name("often");
  often->set_every_steps(5);
  const auto resolved = ResolveTrainSpec(spec);
  ORDO_ASSERT_OK(resolved);
  EXPECT_EQ(resolved->evaluations(0).at(), "end");
  EXPECT_EQ(resolved->evaluations(0).name(), "addition_grid");
  EXPECT_EQ(resolved->evaluations(0).seed(), 1u);
  EXPECT_EQ(resolved->evaluations(1).at(), "");
}

TEST(ResolveEvaluationsTest, EvaluationsAreRefusedByField) {
  EXPECT_THAT(
      FieldsOf([](v1::TrainSpec* spec) {
        v1::Evaluation* both = spec->add_evaluations();
        both->set_task("addition_grid");
        both->set_at("end");
        both->set_every_steps(5);
        v1::Evaluation* never = spec->add_evaluations();
        never->set_task("addition_grid");
        never->set_name("never");
        never->set_every_steps(0);
        v1::Evaluation* same = spec->add_evaluations();
        same->set_task("addition_grid");
        v1::Evaluation* path = spec->add_evaluations();
        path->set_task("addition_grid");
        path->set_name("../x");
        v1::Evaluation* unknown = spec->add_evaluations();
        unknown->set_task("Addition grid");
        v1::Evaluation* samples = spec->add_evaluations();
        samples->set_task("addition_grid");
        samples->set_name("samples");
        (*samples->mutable_params())["samples"].set_number_value(0);
        (*samples->mutable_params())["sampels"].set_number_value(1);
      }),
      ElementsAre("evaluations[0].at", "evaluations[1].every_steps",
                  "evaluations[2].name", "evaluations[3].name",
                  "evaluations[4].task", "evaluations[5].params.sampels",
                  "evaluations[5].params.samples"));
}

TEST(ResolveEvaluationsTest, NumberOfEvaluationsIsLimited) {
  const auto add = [](int count) {
    return [count](v1::TrainSpec* spec) {
      for (int i = 0; i < count; ++i) {
        v1::Evaluation* evaluation = spec->add_evaluations();
        evaluation->set_task("addition_grid");
        evaluation->set_name("e" + std::to_string(i));
      }
    };
  };
  EXPECT_THAT(FieldsOf(add(kMaxEvaluations)), IsEmpty());
  EXPECT_THAT(FieldsOf(add(kMaxEvaluations + 1)), ElementsAre("evaluations"));
}

// Of an evaluation with these parameters, of a model that is trained on such.
std::vector<base::FieldViolation> ViolationsOfItems(
    const std::string& task,
    const std::vector<std::pair<std::string, double>>& params) {
  v1::TrainSpec spec = Minimal();
  spec.mutable_data()->set_task(std::string(absl::StripSuffix(task, "_grid")));
  spec.mutable_model()->set_vocabulary_size(300);
  v1::Evaluation* evaluation = spec.add_evaluations();
  evaluation->set_task(task);
  for (const auto& [name, value] : params) {
    (*evaluation->mutable_params())[name].set_number_value(value);
  }
  return base::FieldViolations(ResolveTrainSpec(spec).status());
}

TEST(ResolveEvaluationsTest, AnEvaluationHasNoMoreItemsThanMemoryHolds) {
  // The largest of the published ones.
  EXPECT_THAT(ViolationsOfItems("addition_grid",
                                {{"max_digits", 80}, {"samples", 100}}),
              IsEmpty());
  EXPECT_THAT(ViolationsOfItems("addition_grid",
                                {{"max_digits", 100}, {"samples", 100}}),
              IsEmpty());
  const auto violations = ViolationsOfItems(
      "addition_grid", {{"max_digits", 100}, {"samples", 101}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.samples");
  EXPECT_EQ(
      violations[0].description,
      "of 101 makes 1010000 items of up to 303 tokens; at most 1000000 of "
      "such are possible: give at most 100");
}

TEST(ResolveEvaluationsTest, NorMoreOrLongerRows) {
  EXPECT_THAT(ViolationsOfItems("selective_copy", {{"samples", 1000000}}),
              IsEmpty());
  auto violations = ViolationsOfItems(
      "selective_copy", {{"symbols", 65536}, {"samples", 1000000}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "evaluations[0].params.samples");
  EXPECT_THAT(violations[0].description, HasSubstr("give at most 7614"));
  violations = ViolationsOfItems("addition_grid",
                                 {{"max_digits", 1000}, {"samples", 1}});
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_THAT(violations[0].description,
              HasSubstr("possible: make the grid smaller"));
}

// Of a model that sees what comes later.
std::vector<std::string> FieldsWithoutCausal(const std::string& task,
                                             const std::string& layout = "") {
  return FieldsOf([&](v1::TrainSpec* spec) {
    MakeBidirectional(spec);
    spec->mutable_model()->set_vocabulary_size(200);
    if (task == "selective_copy") {
      spec->mutable_data()->set_task(task);
      (*spec->mutable_data()->mutable_params())["layout"].set_string_value(
          "markers");
    }
    v1::Evaluation* evaluation = spec->add_evaluations();
    evaluation->set_task(task);
    if (layout.empty()) return;
    (*evaluation->mutable_params())["layout"].set_string_value(layout);
  });
}

TEST(ResolveEvaluationsTest, AModelThatIsNotCausalAnswersInPlaceOnly) {
  EXPECT_THAT(FieldsWithoutCausal("addition_grid"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("flip_flop"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("selective_copy"),
              ElementsAre("evaluations[0].task"));
  EXPECT_THAT(FieldsWithoutCausal("selective_copy", "markers"), IsEmpty());
  EXPECT_THAT(FieldsWithoutCausal("ruoss"), IsEmpty());
}

TEST(ResolveEvaluationsTest, AWrongParameterIsNotTakenForAnAnswerTokenByToken) {
  EXPECT_THAT(FieldsWithoutCausal("selective_copy", "backwards"),
              ElementsAre("evaluations[0].params.layout"));
}

}  // namespace
}  // namespace ordo::model::catalog
