#include "report/summary/comparison.h"

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::EmptyComparison;
using testing::FinishedRun;
using ::testing::IsEmpty;
using ::testing::Optional;
using testing::RecordsOf;
using testing::RopeAndTape;
using ::testing::SizeIs;

std::string FieldOf(const absl::Status& status) {
  const auto violations = base::FieldViolations(status);
  return violations.empty() ? "" : violations.front().field;
}

TEST(ComparisonTest, ArmsAreComparedSeedBySeed) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  EXPECT_THAT(comparison.arms, ElementsAre("rope", "tape"));
  EXPECT_THAT(comparison.seeds, ElementsAre(1, 2, 3));
  ASSERT_THAT(comparison.metrics, SizeIs(1));
  const auto& compared = comparison.metrics[0].comparison;
  ASSERT_TRUE(compared.has_value());
  EXPECT_EQ(compared->num_seeds, 3);
  ASSERT_THAT(compared->differences, SizeIs(1));
  EXPECT_EQ(compared->differences[0].name, "tape");
  EXPECT_THAT(compared->differences[0].mean, DoubleNear(0.2, 1e-12));
  EXPECT_GT(compared->differences[0].interval.low, 0);
}

TEST(ComparisonTest, TheOrderOfThePartsDoesNotMatter) {
  auto spec = RopeAndTape();
  spec.mutable_parts()->SwapElements(1, 5);
  spec.mutable_parts()->SwapElements(2, 4);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_THAT(comparison.metrics[0].comparison->differences[0].mean,
              DoubleNear(0.2, 1e-12));
}

TEST(ComparisonTest, WithABudgetRunsAreComparedAtTheirEnds) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    if (part.part() != "tape") continue;
    part.mutable_checkpoint()->set_step(83);
    part.mutable_reports(0)->set_step(83);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison without, Compare(spec, {}));
  EXPECT_FALSE(without.metrics[0].comparison.has_value());
  spec.mutable_comparison()->set_budget("flops");
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison with, Compare(spec, {}));
  ASSERT_TRUE(with.metrics[0].comparison.has_value());
  EXPECT_THAT(with.metrics[0].comparison->differences[0].mean,
              DoubleNear(0.2, 1e-12));
  // What was scored before the end does not count.
  spec.mutable_parts(3)->mutable_reports(0)->set_step(80);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison before, Compare(spec, {}));
  EXPECT_EQ(before.metrics[0].comparison->num_seeds, 2);
}

TEST(ComparisonTest, OnlySeedsThatAllArmsHaveAreCompared) {
  auto spec = RopeAndTape();
  spec.mutable_parts(5)->clear_reports();
  spec.mutable_parts(5)->set_state("FAILED");
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const ComparedMetric& metric = comparison.metrics[0];
  EXPECT_EQ(metric.scores[0][2]->value, 0.48);
  EXPECT_FALSE(metric.scores[1][2].has_value());
  EXPECT_EQ(metric.comparison->num_seeds, 2);
}

TEST(ComparisonTest, ItIsSaidWhyItIsNotControlled) {
  auto spec = RopeAndTape();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison whole,
                            Compare(spec, RecordsOf(spec)));
  EXPECT_THAT(whole.control.reasons, IsEmpty());
  spec.mutable_parts(5)->set_state("FAILED");
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison less,
                            Compare(spec, RecordsOf(spec)));
  EXPECT_THAT(less.control.reasons, SizeIs(1));
}

TEST(ComparisonTest, WhatARunThatWasCutOffScoredIsNoResult) {
  auto spec = RopeAndTape();
  spec.mutable_parts(5)->set_state("CANCELLED");
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_FALSE(comparison.metrics[0].scores[1][2].has_value());
  EXPECT_EQ(comparison.metrics[0].comparison->num_seeds, 2);
}

TEST(ComparisonTest, ScoresOfOtherStepsAreNotCompared) {
  auto spec = RopeAndTape();
  spec.mutable_parts(4)->mutable_reports(0)->set_step(50);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_EQ(comparison.metrics[0].comparison->num_seeds, 2);
}

TEST(ComparisonTest, AScoreThatOneArmLacksIsNotCompared) {
  auto spec = RopeAndTape();
  for (int i = 3; i < 6; ++i) spec.mutable_parts(i)->clear_reports();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_FALSE(comparison.metrics[0].comparison.has_value());
}

TEST(ComparisonTest, CostsAreMeansOverTheSeedsThatAllArmsFinished) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_device_seconds(16);
  spec.mutable_parts(1)->set_state("FAILED");
  spec.mutable_parts(4)->set_device_seconds(99);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_EQ(comparison.costs[0].device_seconds, 13);
  EXPECT_EQ(comparison.costs[1].device_seconds, 12);
  EXPECT_EQ(comparison.costs[1].num_encoding_parameters, 10);
  EXPECT_EQ(comparison.costs[0].num_seeds, 2);
  EXPECT_EQ(comparison.costs[1].num_seeds, 2);
}

TEST(ComparisonTest, MemoryIsKnownWhereEachRunRecordedIt) {
  const auto spec = RopeAndTape();
  std::vector<PartRecords> records(6);
  for (int i = 0; i < 6; ++i) records[i].peak_memory_bytes = 100 * (i + 1);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison known, Compare(spec, records));
  EXPECT_EQ(known.costs[0].peak_memory_bytes, 200);
  EXPECT_EQ(known.costs[1].peak_memory_bytes, 500);
  records[1].peak_memory_bytes = 0;
  // Of the last nothing was read.
  records.pop_back();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison unknown, Compare(spec, records));
  EXPECT_EQ(unknown.costs[0].peak_memory_bytes, 0);
  EXPECT_EQ(unknown.costs[1].peak_memory_bytes, 0);
}

TEST(ComparisonTest, CostsAreComparedSeedBySeed) {
  auto spec = RopeAndTape();
  for (int i = 0; i < 6; ++i) {
    spec.mutable_parts(i)->set_step_device_seconds(i < 3 ? 1 + i : 3 + i);
  }
  std::vector<PartRecords> records(6);
  for (int i = 0; i < 5; ++i) records[i].peak_memory_bytes = 100;
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(spec, records));
  // Of the memory of one run nothing is known.
  ASSERT_THAT(comparison.compared_costs, SizeIs(2));
  const ComparedMetric& whole = comparison.compared_costs[0];
  EXPECT_EQ(whole.key.metric, "device_seconds");
  const ComparedMetric& step = comparison.compared_costs[1];
  EXPECT_EQ(step.key.metric, "step_device_seconds");
  ASSERT_TRUE(step.comparison.has_value());
  EXPECT_EQ(step.comparison->num_seeds, 3);
  // 1, 2, 3 against 6, 7, 8: the same difference at each seed.
  EXPECT_EQ(step.comparison->arms[1].mean, 7);
  EXPECT_THAT(step.comparison->arms[1].deviation, DoubleNear(1, 1e-12));
  ASSERT_THAT(step.comparison->differences, SizeIs(1));
  EXPECT_EQ(step.comparison->differences[0].mean, 5);
  EXPECT_THAT(step.comparison->differences[0].deviation, DoubleNear(0, 1e-12));
}

TEST(ComparisonTest, WithoutASeedThatAllArmsFinishedThereIsNoCost) {
  auto spec = RopeAndTape();
  for (int i = 3; i < 6; ++i) spec.mutable_parts(i)->set_state("FAILED");
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_EQ(comparison.costs[0].num_seeds, 0);
  EXPECT_EQ(comparison.costs[0].device_seconds, 0);
  EXPECT_THAT(comparison.compared_costs, IsEmpty());
}

TEST(ComparisonTest, WhatCannotBeComparedIsRefusedByName) {
  EXPECT_EQ(FieldOf(Compare(EmptyComparison(), {}).status()), "parts");
  auto baseline = RopeAndTape();
  baseline.mutable_comparison()->set_baseline("alibi");
  EXPECT_EQ(FieldOf(Compare(baseline, {}).status()), "comparison.baseline");
  auto twice = RopeAndTape();
  *twice.add_parts() = FinishedRun("tape", 2, 0.5);
  EXPECT_EQ(FieldOf(Compare(twice, {}).status()), "parts[6]");
  auto confidence = RopeAndTape();
  confidence.mutable_comparison()->set_confidence(1);
  EXPECT_EQ(FieldOf(Compare(confidence, {}).status()), "comparison.confidence");
}

}  // namespace
}  // namespace ordo::report::summary
