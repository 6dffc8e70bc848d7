#include "services/spec/spec_diff.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ::testing::IsEmpty;

TEST(SpecDiffTest, NamesEachValueThatIsNotShared) {
  JobSpec a, b;
  a.set_name("a");
  b.set_name("b");
  a.mutable_training()->set_steps(5);
  b.mutable_training()->set_steps(6);
  b.add_evaluations()->set_task("flip_flop");
  const auto found = DiffSpecs(a, b);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].path, "training.steps");
  EXPECT_EQ(found[0].first, "5");
  EXPECT_EQ(found[0].second, "6");
  EXPECT_EQ(found[1].path, "evaluations[0].task");
  EXPECT_EQ(found[1].first, "nothing");
}

TEST(SpecDiffTest, AnEmptyMessageIsAsNone) {
  JobSpec a, b;
  a.mutable_training();
  EXPECT_THAT(DiffSpecs(a, b), IsEmpty());
}

TEST(SpecDiffTest, WhatAliasesNamedDiffersOnlyWithTheirFields) {
  JobSpec a, b;
  a.add_bound()->set_field("model.from");
  EXPECT_THAT(DiffSpecs(a, b), IsEmpty());
}

}  // namespace
}  // namespace ordo::services::spec
