#include "services/spec/overrides.h"

#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Overrides;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Violations = std::vector<base::FieldViolation>;

// Applies `set`, a map in YAML.
Violations Apply(const std::string& set, JobSpec* spec) {
  Overrides overrides;
  ORDO_EXPECT_OK(
      base::ReadMessage("set: " + set, base::TextForm::kYaml, &overrides));
  ValuesByPath values;
  for (const auto& [path, value] : overrides.set()) values[path] = &value;
  Violations violations;
  ApplyOverrides(values, spec, &violations);
  return violations;
}

TEST(OverridesTest, SetsFieldsInTheOrderOfTheirPaths) {
  JobSpec spec;
  spec.add_evaluations()->set_task("addition_grid");
  EXPECT_THAT(Apply("{encoding.params.base: 500, encoding: {name: rope},"
                    " training.learning_rate: 3e-3,"
                    " 'evaluations[0].params.samples': 7}",
                    &spec),
              IsEmpty());
  EXPECT_EQ(spec.encoding().name(), "rope");
  EXPECT_EQ(spec.encoding().params().at("base").number_value(), 500);
  EXPECT_EQ(spec.training().learning_rate(), 3e-3);
  EXPECT_EQ(spec.evaluations(0).params().at("samples").number_value(), 7);
}

TEST(OverridesTest, NullLeavesAFieldOut) {
  JobSpec spec;
  spec.mutable_training()->set_batch_size(4);
  EXPECT_THAT(Apply("{training.batch_size: null}", &spec), IsEmpty());
  EXPECT_FALSE(spec.training().has_batch_size());
}

TEST(OverridesTest, ErrorsNameThePathTheNearestFieldAndWhatIsExpected) {
  JobSpec spec;
  const auto refused = [&](const std::string& set) {
    const Violations violations = Apply(set, &spec);
    return violations.size() == 1
               ? violations[0].field + ": " + violations[0].description
               : "";
  };
  EXPECT_THAT(refused("{training.learning_rat: 1}"),
              HasSubstr("training.learning_rat: 'learning_rat' is no field of "
                        "Training; did you mean 'learning_rate'?"));
  EXPECT_THAT(refused("{encoding: {nam: rope}}"),
              HasSubstr("encoding.nam: is no field of Component; did you mean "
                        "'name'?"));
  EXPECT_THAT(refused("{encoding: rope}"), HasSubstr("write {name: rope}"));
  EXPECT_THAT(refused("{training.steps: five}"),
              HasSubstr("training.steps: must be a whole number"));
  EXPECT_THAT(refused("{'evaluations[2].task': flip_flop}"),
              HasSubstr("is no index of this list"));
}

TEST(OverridesTest, WhatMakesAPartCannotBeSet) {
  for (const char* path : {"name", "kind", "needs[0].job", "sweep.run.queue",
                           "compare", "pipeline.stages", "hold"}) {
    JobSpec spec;
    EXPECT_EQ(Apply(std::string("{'") + path + "': 1}", &spec).size(), 1u)
        << path;
  }
}

TEST(OverridesTest, SeedsThatANumberCannotHoldAreWrittenInQuotes) {
  JobSpec spec;
  EXPECT_THAT(Apply("{training.seed: 12345678901234567}", &spec),
              ElementsAre(::testing::Field(&base::FieldViolation::description,
                                           HasSubstr("write it in quotes"))));
  EXPECT_THAT(Apply("{training.seed: '12345678901234567'}", &spec), IsEmpty());
  EXPECT_EQ(spec.training().seed(), 12345678901234567u);
}

TEST(OverridesTest, TextOfAValueIsShort) {
  google::protobuf::Value value;
  value.set_number_value(0.001);
  EXPECT_EQ(ValueText(value), "0.001");
  value.set_string_value("rope");
  EXPECT_EQ(ValueText(value), "rope");
  value.set_string_value(std::string(119, 'a') + "éé");
  EXPECT_EQ(ValueText(value), std::string(119, 'a') + "...");
}

}  // namespace
}  // namespace ordo::services::spec
