#include "model/catalog/gate.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Evaluation;
using ordo::training::v1::Gate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Evaluation Grid(int max_digits) {
  Evaluation evaluation;
  evaluation.set_task("addition_grid");
  evaluation.set_name("grid");
  (*evaluation.mutable_params())["max_digits"].set_number_value(max_digits);
  (*evaluation.mutable_params())["samples"].set_number_value(7);
  return evaluation;
}

Evaluation Of(const std::string& task) {
  Evaluation evaluation;
  evaluation.set_task(task);
  evaluation.set_name(task);
  return evaluation;
}

class GateTest : public ::testing::Test {
 protected:
  GateTest() {
    gate_.set_margin(0.01);
    *evaluations_.Add() = Grid(3);
  }

  // "gate.margin: ..." of each violation.
  std::vector<std::string> Resolve() {
    Violations violations;
    ResolveGate("gate", evaluations_, &gate_, &violations);
    std::vector<std::string> texts;
    for (const auto& violation : violations) {
      texts.push_back(violation.field + ": " + violation.description);
    }
    return texts;
  }

  Gate gate_;
  google::protobuf::RepeatedPtrField<Evaluation> evaluations_;
};

TEST_F(GateTest, WhatIsLeftOutTakesItsDefault) {
  EXPECT_THAT(Resolve(), IsEmpty());
  EXPECT_EQ(gate_.level(), 0.95);
  EXPECT_EQ(gate_.fail_below(), Gate::ZERO);
  EXPECT_EQ(gate_.on_inconclusive(), Gate::INCONCLUSIVE);
  EXPECT_FALSE(gate_.has_anchor_margin());
  EXPECT_FALSE(gate_.has_max_items());
  gate_.set_anchor("jobs/a");
  EXPECT_THAT(Resolve(), IsEmpty());
  EXPECT_EQ(gate_.anchor_margin(), 0.01);
  const Gate resolved = gate_;
  EXPECT_THAT(Resolve(), IsEmpty());
  EXPECT_EQ(gate_.SerializeAsString(), resolved.SerializeAsString());
}

TEST_F(GateTest, NumbersOutOfTheirRangeAreRefusedTogether) {
  gate_.set_margin(0);
  gate_.set_anchor_margin(0.1);
  gate_.set_level(1);
  gate_.set_max_items(10);
  EXPECT_THAT(Resolve(),
              ElementsAre(HasSubstr("gate.margin: must be > 0"),
                          HasSubstr("gate.anchor_margin: is for an anchor"),
                          HasSubstr("gate.level: must be 0.5..0.999"),
                          HasSubstr("gate.max_items: must be 100..1000000")));
  gate_.Clear();
  EXPECT_THAT(Resolve(), ElementsAre(HasSubstr("gate.margin: required")));
}

TEST_F(GateTest, ABudgetIsForTasksThatMakeItems) {
  gate_.set_max_items(1000);
  EXPECT_THAT(Resolve(), IsEmpty());
  *evaluations_.Add() = Of("text");
  EXPECT_THAT(Resolve(), IsEmpty());
  evaluations_.Clear();
  *evaluations_.Add() = Of("text");
  *evaluations_.Add() = Of("passkey");
  EXPECT_THAT(Resolve(), ElementsAre(HasSubstr("gate.max_items: is for tasks "
                                               "that make items")));
}

TEST_F(GateTest, ABudgetHasRoomForOneSample) {
  gate_.set_max_items(100);
  *evaluations_.Add() = Grid(11);
  EXPECT_THAT(Resolve(),
              ElementsAre(HasSubstr("gate.max_items: is 100, and each sample "
                                    "of grid has 121 items")));
}

TEST_F(GateTest, SetsGrowByWholeSamples) {
  const Growth growth = GrowthOf(Grid(3), 1000);
  EXPECT_EQ(growth.items_per_sample, 9);
  EXPECT_EQ(growth.max_samples, 111);
  EXPECT_EQ(growth.budget(), 999);
  // No more than the task's parameter may be.
  EXPECT_EQ(GrowthOf(Grid(1), 1'000'000).max_samples, 100'000);
  EXPECT_EQ(GrowthOf(Grid(3), 0).budget(), 0);
}

TEST_F(GateTest, WhatIsReadAndWhatHasUnitsOfSeveralIsAFixedSet) {
  for (const char* task :
       {"text", "questions", "passkey", "scan", "nonsense"}) {
    EXPECT_FALSE(MakesItems(task)) << task;
    EXPECT_EQ(GrowthOf(Of(task), 1000).budget(), 0) << task;
  }
  EXPECT_TRUE(MakesItems("counting"));
}

}  // namespace
}  // namespace ordo::model::catalog
