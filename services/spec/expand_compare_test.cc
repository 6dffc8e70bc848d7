#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using testing::Compare;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kTwoArms;
using testing::NamesOf;
using testing::OnlyWrong;

TEST(ExpandCompareTest, ComparisonHasEachArmForEachSeed) {
  const auto made = Expand(Compare(std::string(kTwoArms) + "  seeds: [5, 7]"));
  EXPECT_THAT(NamesOf(made),
              ElementsAre("c-rope-s5", "c-tape-s5", "c-rope-s7", "c-tape-s7"));
  const Part& part = made->parts[3];
  EXPECT_EQ(part.label, "tape");
  EXPECT_EQ(part.spec.encoding().name(), "tape");
  EXPECT_EQ(part.spec.training().seed(), 7u);
  EXPECT_EQ(part.spec.data().seed(), 7u);
  EXPECT_EQ(part.spec.kind(), JobSpec::TRAIN);
  EXPECT_EQ(part.spec.training().batch_size(), 64);
}

TEST(ExpandCompareTest, ComparisonGetsItsDefaults) {
  const auto made = Expand(Compare(kTwoArms));
  ORDO_ASSERT_OK(made);
  const auto& compare = made->spec.compare();
  EXPECT_THAT(compare.seeds(), ElementsAre(1, 2, 3));
  EXPECT_THAT(compare.differs(), ElementsAre("encoding"));
  EXPECT_EQ(compare.baseline(), "rope");
  EXPECT_EQ(compare.confidence(), 0.95);
  EXPECT_FALSE(compare.has_max_parallel());
  // The template stays: what is filled in depends on the arm.
  EXPECT_FALSE(compare.run().training().has_batch_size());
}

TEST(ExpandCompareTest, WhatAnArmHasWrongIsToldWhereTheArmSaysIt) {
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encoding: {name: tap}}}]")),
              HasSubstr("compare.arms[1].set.encoding.name: "));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encodng.name: tape}}]")),
              HasSubstr("compare.arms[1].set.encodng.name: 'encodng' is no "
                        "field of JobSpec; did you mean 'encoding'?"));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{encoding: tape}}]")),
              HasSubstr("compare.arms[1].set.encoding: "));
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{training.seed: 3}}]")),
              HasSubstr("compare.arms[1].set.training.seed: is what "
                        "compare.seeds says"));
}

TEST(ExpandCompareTest, ArmsThatDifferInNothingAreRefused) {
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: {encoding: "
                                "{name: rope}}}]")),
              HasSubstr("compare.arms[1].set: makes the arm b the same as a"));
}

TEST(ExpandCompareTest, ArmsThatDifferInMoreThanAllowedAreRefused) {
  const std::string arms =
      "  arms: [{name: a}, {name: b, set: {encoding: {name: tape}, "
      "training.learning_rate: 0.5}}]\n";
  EXPECT_THAT(OnlyWrong(Compare(arms)),
              HasSubstr("compare.arms[1].set.training.learning_rate: "
                        "training.learning_rate is 0.5 in the arm b and "
                        "0.001 in a; arms may differ in encoding alone"));
  ORDO_EXPECT_OK(
      Expand(Compare(arms + "  differs: [encoding, training.learning_rate]")));
  // What follows from it counts as well.
  EXPECT_THAT(OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: "
                                "{training.batch_size: 8}}]\n"
                                "  differs: [training.batch_size]")),
              HasSubstr("compare.arms[1].set: training.micro_batch_size is 8"));
}

TEST(ExpandCompareTest, BadComparisonsAreRefused) {
  const auto wrong = [](const std::string& rest) {
    return OnlyWrong(Compare(rest));
  };
  EXPECT_THAT(wrong("  arms: [{name: a}]"),
              HasSubstr("compare.arms: must have 2..64"));
  EXPECT_THAT(wrong("  arms: [{name: a}, {name: a, set: {encoding: {name: "
                    "tape}}}]"),
              HasSubstr("compare.arms[1].name: 'a' is there twice"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  baseline: ropes"),
              HasSubstr("compare.baseline: no arm is called 'ropes'; did you "
                        "mean 'rope'?"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  seeds: [3, 3]"),
              HasSubstr("compare.seeds[1]: 3 is there twice"));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  confidence: 1"),
              HasSubstr("compare.confidence: "));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  max_parallel: 0"),
              HasSubstr("compare.max_parallel: "));
  EXPECT_THAT(wrong(std::string(kTwoArms) + "  differs: [encodin]"),
              HasSubstr("compare.differs[0]: 'encodin'"));
}

}  // namespace
}  // namespace ordo::services::spec
