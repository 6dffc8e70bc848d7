#include "report/summary/control.h"

#include <cstddef>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordsOf;
using testing::RopeAndTape;
using ::testing::SizeIs;

std::vector<std::string> ReasonsOf(
    const ordo::training::v1::SummarizeSpec& spec) {
  return CheckControl(spec, RecordsOf(spec)).reasons;
}

// Of rope and tape at seeds 1 to 3 with one parameter each, "head"; those of
// tape may be set otherwise.
struct Parameters {
  Parameters() : records(RecordsOf(spec)) {
    for (int i = 0; i < spec.parts_size(); ++i) {
      records[i].initial_values["head"] = {"4,8", "4ead"};
      if (i < 3) continue;
      spec.mutable_parts(i)->mutable_control()->set_initial_digest("other");
    }
  }
  void SetTape(const std::string& name, const InitialValue& value) {
    for (size_t i = 3; i < records.size(); ++i) {
      records[i].initial_values[name] = value;
    }
  }
  ordo::training::v1::SummarizeSpec spec = RopeAndTape();
  std::vector<PartRecords> records;
};

TEST(ControlTest, RunsThatRecordTheSameAreControlled) {
  EXPECT_THAT(ReasonsOf(RopeAndTape()), IsEmpty());
}

TEST(ControlTest, AnotherOrderOfDataIsNamedWithItsSeedAndRuns) {
  auto spec = RopeAndTape();
  spec.mutable_parts(4)->set_data_digest("another");
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre("order of data of seed 2: another (c-tape-s2), "
                          "d474d474d474 (c-rope-s2)"));
}

TEST(ControlTest, WhatTheyComputeInMustBeTheSameAndIsNamed) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    if (part.job() != "c-tape-s2") continue;
    auto& parts = *part.mutable_control()->mutable_environment();
    parts["threads"] = "4";
    parts["libraries"] = "2.11.0 22c422c422c422c4";
    parts["gpu"] = "NVIDIA H200, driver 580";
  }
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("threads: 2 (c-rope-s1"),
                          HasSubstr("libraries: 2.11.0 11b411b411b41 (c-rope"),
                          HasSubstr("gpu: NVIDIA H200, driver 580 (c-tape-s2), "
                                    "none (c-rope-s1")));
}

TEST(ControlTest, ThreadsMayDifferWhereTheyAreListed) {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->add_differs("resources.threads");
  for (auto& part : *spec.mutable_parts()) {
    if (part.part() == "tape") {
      (*part.mutable_control()->mutable_environment())["threads"] = "4";
    }
  }
  const Control control = CheckControl(spec, RecordsOf(spec));
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences, ElementsAre(HasSubstr("threads: 2 (")));
}

TEST(ControlTest, AnEnvironmentThatWasNotRecordedIsNotProved) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->mutable_control()->clear_environment();
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("environment: not recorded (c-rope-s1)")));
}

TEST(ControlTest, WhatWasNotRecordedIsNotProved) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    part.mutable_control()->clear_initial_digest();
  }
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("initial values outside of the encoding of "
                                    "seed 1: not recorded"),
                          HasSubstr("seed 2"), HasSubstr("seed 3")));
}

TEST(ControlTest, StepsTokensAndInitialValuesMustBeTheSame) {
  auto spec = RopeAndTape();
  spec.mutable_parts(3)->mutable_checkpoint()->set_step(99);
  spec.mutable_parts(3)->set_tokens(6300);
  spec.mutable_parts(3)->mutable_control()->set_initial_digest("x");
  EXPECT_THAT(ReasonsOf(spec), ElementsAre(HasSubstr("steps of seed 1"),
                                           HasSubstr("tokens of seed 1"),
                                           HasSubstr("initial values")));
}

// Tape takes a fifth more FLOPs a step, and so has fewer steps.
ordo::training::v1::SummarizeSpec OfAsManyFlops() {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->set_budget("flops");
  spec.mutable_comparison()->add_differs("training.steps");
  for (auto& part : *spec.mutable_parts()) {
    part.set_common_step(80);
    part.set_common_data_digest("80d80d80d80d");
    if (part.part() != "tape") continue;
    part.mutable_control()->set_step_flops(2.4e9);
    part.mutable_checkpoint()->set_step(83);
    part.set_tokens(5312);
    part.set_data_digest("another");
  }
  return spec;
}

TEST(ControlTest, RunsOfAsManyFlopsMayHaveOtherStepsAndTokens) {
  const auto spec = OfAsManyFlops();
  const Control control = CheckControl(spec, RecordsOf(spec));
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences, SizeIs(6));
  EXPECT_THAT(control.differences[0],
              HasSubstr("steps of seed 1: 100 (c-rope-s1), 83 (c-tape-s1)"));
  EXPECT_THAT(control.differences[1], HasSubstr("tokens of seed 1"));
}

TEST(ControlTest, OtherFlopsOrOtherDataUpToACommonStepIsAReason) {
  auto spec = OfAsManyFlops();
  spec.mutable_parts(3)->mutable_checkpoint()->set_step(90);
  spec.mutable_parts(4)->set_common_data_digest("else");
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("FLOPs of seed 1: 2e+11 (c-rope-s1), "
                                    "2.16e+11 (c-tape-s1)"),
                          HasSubstr("order of data of seed 2 up to step 80: "
                                    "80d80d80d80d (c-rope-s2), else")));
}

TEST(ControlTest, RunsOfAsManyDeviceSecondsMayHaveOtherSteps) {
  auto spec = OfAsManyFlops();
  spec.mutable_comparison()->set_budget("device_seconds");
  for (auto& part : *spec.mutable_parts()) {
    part.set_step_device_seconds(part.part() == "rope" ? 0.1 : 0.125);
  }
  EXPECT_THAT(ReasonsOf(spec), IsEmpty());
  spec.mutable_parts(3)->set_step_device_seconds(0.15);
  spec.mutable_parts(5)->clear_step_device_seconds();
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("device-seconds of steps of seed 1: 10 "
                                    "(c-rope-s1), 12.45 (c-tape-s1)"),
                          HasSubstr("device-seconds of steps of seed 3")));
}

TEST(ControlTest, WithoutACommonCheckpointTheOrderOfDataIsNotProved) {
  auto spec = OfAsManyFlops();
  for (auto& part : *spec.mutable_parts()) {
    part.clear_common_step();
    part.clear_common_data_digest();
  }
  EXPECT_THAT(ReasonsOf(spec), Each(HasSubstr("not recorded")));
  EXPECT_THAT(ReasonsOf(spec), SizeIs(3));
}

TEST(ControlTest, StepsThatMayDifferLetNoParametersDiffer) {
  Parameters of;
  of.spec.mutable_comparison()->add_differs("training.steps");
  of.SetTape("extra", {"4", "e"});
  EXPECT_THAT(CheckControl(of.spec, of.records).reasons,
              Contains(HasSubstr("in tape alone: extra")));
}

TEST(ControlTest, BuildDeviceAndPrecisionMustBeOneOverAllRuns) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_build_digest("b1");
  spec.mutable_parts(1)->mutable_control()->set_device("cpu avx512");
  spec.mutable_parts(2)->mutable_control()->set_precision("bf16");
  EXPECT_THAT(ReasonsOf(spec), ElementsAre(HasSubstr("build of the trainer"),
                                           HasSubstr("precision"),
                                           HasSubstr("device: cpu avx2 (")));
}

TEST(ControlTest, WhatIsNotRepeatableIsNotControlled) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->mutable_control()->set_deterministic(false);
  spec.mutable_parts(5)->set_exact(false);
  EXPECT_THAT(ReasonsOf(spec),
              ElementsAre(HasSubstr("other numbers: c-rope-s1"),
                          HasSubstr("was: c-tape-s3")));
}

TEST(ControlTest, WhatTheArmsAreToDifferInIsNoReason) {
  auto spec = RopeAndTape();
  for (int i = 3; i < 6; ++i) {
    spec.mutable_parts(i)->mutable_control()->set_precision("bf16");
    spec.mutable_parts(i)->mutable_control()->set_device("cpu avx512");
    spec.mutable_parts(i)->set_data_digest("another");
  }
  for (const char* field :
       {"training.precision", "resources", "data.params.ignore"}) {
    spec.mutable_comparison()->add_differs(field);
  }
  const Control control = CheckControl(spec, RecordsOf(spec));
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(
      control.differences,
      ElementsAre(HasSubstr("order of data of seed 1: "), HasSubstr("seed 2"),
                  HasSubstr("seed 3"), HasSubstr("precision: bf16 ("),
                  HasSubstr("device: cpu avx2 (")));
  spec.mutable_parts(5)->set_tokens(1);
  EXPECT_THAT(ReasonsOf(spec), ElementsAre(HasSubstr("tokens of seed 3")));
}

TEST(ControlTest, AParameterThatOneArmAloneHasIsNamed) {
  Parameters all;
  all.SetTape("block.2", {"4,4", "b10c"});
  EXPECT_THAT(CheckControl(all.spec, all.records).reasons,
              ElementsAre("parameters outside of the encoding in tape alone: "
                          "block.2"));
  all.spec.mutable_comparison()->add_differs("model.layers");
  const Control control = CheckControl(all.spec, all.records);
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences,
              ElementsAre("parameters outside of the encoding in tape alone: "
                          "block.2"));
}

TEST(ControlTest, AParameterOfAnotherShapeIsNamed) {
  Parameters all;
  all.SetTape("head", {"4,16", "b16"});
  EXPECT_THAT(CheckControl(all.spec, all.records).reasons,
              ElementsAre(HasSubstr("another shape in each arm: head")));
  all.spec.mutable_comparison()->add_differs("model.width");
  const Control control = CheckControl(all.spec, all.records);
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences, SizeIs(1));
}

TEST(ControlTest, WhatArmsShareBeginsWithTheSameValues) {
  Parameters all;
  all.spec.mutable_comparison()->add_differs("model.layers");
  all.SetTape("head", {"4,8", "other"});
  EXPECT_THAT(
      CheckControl(all.spec, all.records).reasons,
      ElementsAre("initial values outside of the encoding of seed 1: not the "
                  "same of head",
                  HasSubstr("seed 2"), HasSubstr("seed 3")));
}

TEST(ControlTest, ManyParametersAreNamedInPart) {
  Parameters all;
  for (int i = 1; i <= 7; ++i) {
    all.SetTape("p" + std::to_string(i), {"1", "0"});
  }
  EXPECT_THAT(CheckControl(all.spec, all.records).reasons,
              ElementsAre(HasSubstr("p1, p2, p3, p4, p5 and 2 more")));
}

TEST(ControlTest, ParametersOfWhichNotAllIsKnownAreJudgedAsAWhole) {
  Parameters all;
  all.spec.mutable_comparison()->add_differs("model.layers");
  for (PartRecords& of_part : all.records) of_part.initial_values.clear();
  EXPECT_THAT(CheckControl(all.spec, all.records).reasons,
              ElementsAre(HasSubstr("initial values outside of the encoding of "
                                    "seed 1: 171717171717 (c-rope-s1)"),
                          HasSubstr("seed 2"), HasSubstr("seed 3")));
}

TEST(ControlTest, OtherQuestionsAreNamedWithTheirEvaluation) {
  const auto spec = RopeAndTape();
  auto records = RecordsOf(spec);
  records[4].questions.begin()->second = "other";
  EXPECT_THAT(CheckControl(spec, records).reasons,
              ElementsAre("items of grid of seed 2: 9e5710259e57 (c-rope-s2), "
                          "other (c-tape-s2)"));
  EXPECT_THAT(CheckControl(spec, {}).reasons,
              ElementsAre(HasSubstr("items of grid of seed 1: not recorded"),
                          HasSubstr("seed 2"), HasSubstr("seed 3")));
}

TEST(ControlTest, QuestionsOfOneArmAloneAreComparedWithNothing) {
  auto spec = RopeAndTape();
  for (int i = 3; i < 6; ++i) spec.mutable_parts(i)->clear_reports();
  EXPECT_THAT(CheckControl(spec, {}).reasons, IsEmpty());
}

TEST(ControlTest, ARunThatFailedIsNamed) {
  auto spec = RopeAndTape();
  spec.mutable_parts(5)->set_state("FAILED");
  spec.mutable_parts(5)->set_reason("NON_FINITE");
  EXPECT_THAT(ReasonsOf(spec), ElementsAre("c-tape-s3 is FAILED, NON_FINITE"));
}

}  // namespace
}  // namespace ordo::report::summary
