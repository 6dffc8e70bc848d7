#include "model/catalog/resolve_data.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/testing/minimal_spec.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;
using ::testing::ElementsAre;
using testing::FieldsOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeBidirectional;
using testing::MessageOf;

TEST(ResolveDataTest, TaskOfTheWrongKindIsRefused) {
  EXPECT_THAT(FieldsOf([](auto* spec) {
                spec->mutable_data()->set_task("addition_grid");
                spec->add_evaluations()->set_task("addition");
              }),
              ElementsAre("data.task", "evaluations[0].task"));
}

// Fields of a spec that trains a model that sees what comes later on the task.
std::vector<std::string> FieldsOfTraining(const std::string& task,
                                          const std::string& layout = "") {
  return FieldsOf([&](v1::TrainSpec* spec) {
    MakeBidirectional(spec);
    spec->mutable_data()->set_task(task);
    if (layout.empty()) return;
    (*spec->mutable_data()->mutable_params())["layout"].set_string_value(
        layout);
  });
}

TEST(ResolveDataTest, AModelThatIsNotCausalLearnsNothingFromNextTokens) {
  EXPECT_THAT(FieldsOfTraining("addition"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("flip_flop"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("selective_copy"), ElementsAre("data.task"));
  EXPECT_THAT(FieldsOfTraining("selective_copy", "markers"), IsEmpty());
  EXPECT_THAT(FieldsOfTraining("ruoss"), IsEmpty());
  EXPECT_THAT(FieldsOfTraining("selective_copy", "backwards"),
              ElementsAre("data.params.layout"));
  EXPECT_THAT(MessageOf([](v1::TrainSpec* spec) {
                spec->mutable_model()->set_causal(false);
              }),
              HasSubstr("leave out model.causal, or take a task whose answers "
                        "are read in place, such as ruoss"));
}

// The field that is refused of rows with more tokens than `limit`.
std::string TooLong(const Entry& task, ParamMap params, int64_t limit) {
  Violations violations;
  ResolveParams(task, "x", &params, &violations);
  RefuseLongRows({task, "x.params", params, limit}, &violations);
  return violations.size() == 1 ? violations[0].field : "";
}

TEST(ResolveDataTest, TheParameterThatMakesRowsTooLongIsNamed) {
  const auto of = [](const char* task,
                     const std::map<std::string, double>& numbers,
                     int64_t limit) {
    ParamMap params;
    for (const auto& [name, number] : numbers) {
      params[name].set_number_value(number);
    }
    return TooLong(*Find(Kind::kEvaluationTask, task), params, limit);
  };
  EXPECT_EQ(of("flip_flop", {}, 64), "x.params.pairs");
  EXPECT_EQ(of("flip_flop", {{"pairs", 32}}, 64), "");
  // Both are long: one is short enough without the second alone.
  EXPECT_EQ(of("selective_copy", {{"symbols", 50}, {"blanks", 900}}, 200),
            "x.params.blanks");
  EXPECT_EQ(of("nope", {{"min_length", 4}, {"max_length", 40}}, 32),
            "x.params.max_length");
  EXPECT_EQ(of("stability", {{"max_length", 500}}, 100), "x.params.max_length");
  // Neither is enough by itself.
  EXPECT_EQ(of("sorting_grid", {{"max_digits", 50}, {"max_numbers", 90}}, 40),
            "x.params.max_numbers");
}

TEST(ResolveDataTest, EachLengthThatIsTooLongIsNamed) {
  ParamMap params;
  auto* lengths = params["lengths"].mutable_list_value();
  for (const double length : {1024, 16, 512}) {
    lengths->add_values()->set_number_value(length);
  }
  for (const char* name : {"text", "flip_flop"}) {
    const Entry& task = *Find(Kind::kEvaluationTask, name);
    Violations violations;
    ParamMap resolved = params;
    ResolveParams(task, "x", &resolved, &violations);
    RefuseLongRows({task, "x.params", resolved, 100}, &violations);
    ASSERT_EQ(violations.size(), 2u) << name;
    EXPECT_EQ(violations[0].field, "x.params.lengths[0]");
    EXPECT_EQ(violations[1].field, "x.params.lengths[2]");
  }
}

}  // namespace
}  // namespace ordo::model::catalog
