#include "report/summary/control.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RopeAndTape;

TEST(ControlTest, RunsThatRecordTheSameAreControlled) {
  EXPECT_THAT(WhyNotControlled(RopeAndTape()), IsEmpty());
}

TEST(ControlTest, AnotherOrderOfDataIsNamedWithItsSeedAndRuns) {
  auto spec = RopeAndTape();
  spec.mutable_parts(4)->set_data_digest("another");
  EXPECT_THAT(WhyNotControlled(spec),
              ElementsAre("order of data of seed 2: another (c-tape-s2), "
                          "d474d474d474 (c-rope-s2)"));
}

TEST(ControlTest, WhatWasNotRecordedIsNotProved) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    part.mutable_control()->clear_initial_digest();
  }
  EXPECT_THAT(WhyNotControlled(spec),
              ElementsAre(HasSubstr("initial values outside of the encoding of "
                                    "seed 1: not recorded"),
                          HasSubstr("seed 2"), HasSubstr("seed 3")));
}

TEST(ControlTest, StepsTokensAndInitialValuesMustBeTheSame) {
  auto spec = RopeAndTape();
  spec.mutable_parts(3)->mutable_checkpoint()->set_step(99);
  spec.mutable_parts(3)->set_tokens(6300);
  spec.mutable_parts(3)->mutable_control()->set_initial_digest("x");
  EXPECT_THAT(WhyNotControlled(spec), ElementsAre(HasSubstr("steps of seed 1"),
                                                  HasSubstr("tokens of seed 1"),
                                                  HasSubstr("initial values")));
}

TEST(ControlTest, BuildDeviceAndPrecisionMustBeOneOverAllRuns) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_build_digest("b1");
  spec.mutable_parts(1)->mutable_control()->set_device("cpu avx512");
  spec.mutable_parts(2)->mutable_control()->set_precision("bf16");
  EXPECT_THAT(
      WhyNotControlled(spec),
      ElementsAre(HasSubstr("build of the trainer"), HasSubstr("precision"),
                  HasSubstr("device: cpu avx2 (")));
}

TEST(ControlTest, WhatIsNotRepeatableIsNotControlled) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->mutable_control()->set_deterministic(false);
  spec.mutable_parts(5)->set_exact(false);
  EXPECT_THAT(WhyNotControlled(spec),
              ElementsAre(HasSubstr("other numbers: c-rope-s1"),
                          HasSubstr("was: c-tape-s3")));
}

TEST(ControlTest, ARunThatFailedIsNamed) {
  auto spec = RopeAndTape();
  spec.mutable_parts(5)->set_state("FAILED");
  spec.mutable_parts(5)->set_reason("NON_FINITE");
  EXPECT_THAT(WhyNotControlled(spec),
              ElementsAre("c-tape-s3 is FAILED, NON_FINITE"));
}

}  // namespace
}  // namespace ordo::report::summary
