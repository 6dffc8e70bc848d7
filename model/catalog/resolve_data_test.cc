#include "model/catalog/resolve_data.h"

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

}  // namespace
}  // namespace ordo::model::catalog
