#include "report/summary/results.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::FinishedRun;
using ::testing::Optional;

TEST(ResultsTest, EachScoreHasARowAndEachPartAPlaceInIt) {
  ordo::training::v1::SummarizeSpec spec;
  *spec.add_parts() = FinishedRun("rope", 1, 0.5);
  *spec.add_parts() = FinishedRun("tape", 1, 0.75);
  auto& metrics = *spec.mutable_parts(1)->mutable_reports(0)->mutable_metrics();
  metrics["diagonal"] = 0.25;
  const Results results = Tabulate(spec);
  EXPECT_THAT(results.metrics, ElementsAre(MetricKey{"grid", "diagonal"},
                                           MetricKey{"grid", "grid_mean"}));
  EXPECT_FALSE(results.scores[0][0].has_value());
  EXPECT_THAT(results.scores[0][1], Optional(Field(&Scored::value, 0.25)));
  EXPECT_THAT(results.scores[1],
              ElementsAre(Optional(Field(&Scored::value, 0.5)),
                          Optional(Field(&Scored::value, 0.75))));
}

TEST(ResultsTest, OfAnEvaluationTheLastStepCounts) {
  ordo::training::v1::SummarizeSpec spec;
  auto& part = *spec.add_parts() = FinishedRun("rope", 1, 0.5);
  auto& early = *part.add_reports() = part.reports(0);
  early.set_step(50);
  (*early.mutable_metrics())["grid_mean"] = 0.1;
  EXPECT_THAT(Tabulate(spec).scores,
              ElementsAre(ElementsAre(Optional(AllOf(
                  Field(&Scored::value, 0.5), Field(&Scored::step, 100))))));
}

TEST(ResultsTest, WhatWasStoppedEarlyOrIsATrialThatDivergedEndedAsMeant) {
  auto part = FinishedRun("rope", 1, 0.5);
  EXPECT_TRUE(EndedAsMeant(part));
  part.set_state("CANCELLED");
  part.set_reason("CANCELLED_BY_USER");
  EXPECT_FALSE(EndedAsMeant(part));
  part.set_reason("STOPPED_EARLY");
  EXPECT_TRUE(WasStoppedEarly(part));
  EXPECT_TRUE(EndedAsMeant(part));
  part.set_state("FAILED");
  part.set_reason("NON_FINITE");
  EXPECT_FALSE(EndedAsMeant(part));
  part.set_trial_of("rope");
  EXPECT_TRUE(EndedAsMeant(part));
}

TEST(ResultsTest, TrialsAndWhatMeasuresThePaceAreNoRuns) {
  auto part = FinishedRun("rope", 1, 0.5);
  EXPECT_TRUE(IsRun(part));
  part.set_trial_of("rope");
  EXPECT_FALSE(IsRun(part));
  part.clear_trial_of();
  part.set_pace_of("rope");
  EXPECT_FALSE(IsRun(part));
}

TEST(ResultsTest, CheckpointsOfOthersAreToldApart) {
  ordo::training::v1::SummarizeSpec spec;
  auto& part = *spec.add_parts() = FinishedRun("evaluate", 1, 0.5);
  part.mutable_reports(0)->set_checkpoint("jobs/a/checkpoints/9-1");
  auto& other = *part.add_reports() = part.reports(0);
  other.set_checkpoint("jobs/b/checkpoints/7-1");
  other.set_step(7);
  EXPECT_THAT(
      Tabulate(spec).metrics,
      ElementsAre(MetricKey{"grid of jobs/a/checkpoints/9-1", "grid_mean"},
                  MetricKey{"grid of jobs/b/checkpoints/7-1", "grid_mean"}));
}

TEST(ResultsTest, AGateSaysItsVerdict) {
  auto gate = FinishedRun("check", 1, 0.5);
  EXPECT_EQ(VerdictOf(gate), "");
  EXPECT_TRUE(IsScore(gate.reports(0), "passed"));
  auto& report = *gate.add_reports();
  report.set_evaluation("gate");
  (*report.mutable_metrics())["passed"] = 0;
  (*report.mutable_metrics())["failed"] = 0;
  EXPECT_EQ(VerdictOf(gate), "inconclusive.");
  gate.set_message("Verdict: inconclusive, which counts as pass here.");
  EXPECT_EQ(VerdictOf(gate), "inconclusive, which counts as pass here.");
  gate.set_message("the gate is decided");
  (*gate.mutable_reports(1)->mutable_metrics())["failed"] = 1;
  EXPECT_EQ(VerdictOf(gate), "fail.");
  EXPECT_FALSE(IsScore(gate.reports(1), "passed"));
  EXPECT_FALSE(IsScore(gate.reports(1), "num_comparisons"));
  EXPECT_TRUE(IsScore(gate.reports(1), "difference_grid_baseline"));
}

TEST(ParseSpreadsTest, ScoresThatAreSharesHaveTheirSample) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto spreads,
      ParseSpreads(R"({"standard_errors": {"error": 0.1, "perplexity": 2},
                       "sampled": {"error": {"units": 20, "items": 80}}})"));
  EXPECT_EQ(spreads.at("error").standard_error, 0.1);
  ASSERT_TRUE(spreads.at("error").sampled.has_value());
  EXPECT_EQ(spreads.at("error").sampled->units, 20);
  EXPECT_EQ(spreads.at("perplexity").standard_error, 2);
  EXPECT_FALSE(spreads.at("perplexity").sampled.has_value());
}

TEST(ResultsTest, ScoresStandByTheNumbersInTheirNames) {
  ordo::training::v1::SummarizeSpec spec;
  *spec.add_parts() = testing::FinishedRun("rope", 1, 0.5);
  auto& metrics = *spec.mutable_parts(0)->mutable_reports(0)->mutable_metrics();
  metrics.clear();
  metrics["error_100"] = 1;
  metrics["error_16"] = 0.5;
  const Results results = Tabulate(spec);
  ASSERT_EQ(results.metrics.size(), 2u);
  EXPECT_EQ(results.metrics[0].metric, "error_16");
  EXPECT_EQ(results.metrics[1].metric, "error_100");
}

}  // namespace
}  // namespace ordo::report::summary
