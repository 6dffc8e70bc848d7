#include "report/summary/tables.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/lengths.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::EmptyComparison;
using testing::FinishedRun;
using ::testing::HasSubstr;
using testing::RopeAndTape;
using ::testing::SizeIs;

TEST(TablesTest, EachScoreHasARowForEachArm) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const Table table = ComparisonTable(comparison);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(table.rows[0],
              ElementsAre("grid", "grid_mean", "rope", "3", "-", "0.5", "0.02",
                          "baseline", "-", "-", "-", "-", "-"));
  EXPECT_THAT(table.rows[1][7], "0.2");
  EXPECT_THAT(table.rows[1][8], "0.4");
  EXPECT_THAT(table.rows, Each(SizeIs(table.header.size())));
}

TEST(TablesTest, ScoresSayOfHowManyItems) {
  const auto spec = RopeAndTape();
  auto records = testing::RecordsOf(spec);
  for (int i = 0; i < spec.parts_size(); ++i) {
    records[i].num_items[spec.parts(i).reports(0).path()] = 2000;
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison known, Compare(spec, records));
  EXPECT_EQ(ComparisonTable(known).rows[1][4], "2000");
  EXPECT_THAT(ComparisonTable(known).note, HasSubstr("Items are what"));
  EXPECT_EQ(DifferenceTable(known).rows[0][5], "2000");
  records[5].num_items.begin()->second = 1000;
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison other, Compare(spec, records));
  EXPECT_EQ(ComparisonTable(other).rows[1][4], "-");
}

// As the tables of its runs do, such as reads where the runs were asked rows.
TEST(TablesTest, AScoreThatSaysOfWhatItIsAMeanHasThoseItems) {
  const auto spec = RopeAndTape();
  auto records = testing::RecordsOf(spec);
  Spreads spreads;
  for (int i = 0; i < spec.parts_size(); ++i) {
    const std::string& path = spec.parts(i).reports(0).path();
    records[i].num_items[path] = 100;
    spreads[path]["grid_mean"] = {0.1, SampleSize{100, 240}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison reads,
                            Compare(spec, records, spreads));
  EXPECT_EQ(ComparisonTable(reads).rows[1][4], "240");
  EXPECT_EQ(DifferenceTable(reads).rows[0][5], "240");
  spreads.begin()->second["grid_mean"].sampled->items = 241;
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison other,
                            Compare(spec, records, spreads));
  EXPECT_EQ(ComparisonTable(other).rows[1][4], "-");
}

TEST(TablesTest, AScoreOfOneLengthSaysOfHowManyItemsOfThatLength) {
  auto spec = RopeAndTape();
  auto records = testing::RecordsOf(spec);
  for (int i = 0; i < spec.parts_size(); ++i) {
    auto& report = *spec.mutable_parts(i)->mutable_reports(0);
    auto& metrics = *report.mutable_metrics();
    metrics.clear();
    metrics["error"] = 0.5;
    metrics["error_16"] = 0.5;
    metrics["error_longer"] = 0.5;
    metrics["largest_95"] = 8;
    records[i].num_items[report.path()] = 600;
    Lengths& lengths = records[i].lengths[report.path()];
    lengths.trained = 16;
    lengths.values = {{16, 0.5}, {32, 0.5}, {64, 0.5}};
    lengths.num_items = {{16, 100}, {32, 200}, {64, 300}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(spec, records));
  const Table table = ComparisonTable(comparison);
  ASSERT_THAT(table.rows, SizeIs(8));
  EXPECT_EQ(table.rows[0][4], "600");
  EXPECT_EQ(table.rows[2][1], "error_16");
  EXPECT_EQ(table.rows[2][4], "100");
  EXPECT_EQ(table.rows[4][1], "error_longer");
  EXPECT_EQ(table.rows[4][4], "500");
  // No length of the evaluation.
  EXPECT_EQ(table.rows[6][4], "600");
}

TEST(TablesTest, ABaselineOfNothingHasNoRelativeDifference) {
  auto spec = EmptyComparison();
  *spec.add_parts() = FinishedRun("rope", 1, 0);
  *spec.add_parts() = FinishedRun("tape", 1, 0.5);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_EQ(ComparisonTable(comparison).rows[1][8], "-");
}

TEST(TablesTest, SeedsThatDifferAlikeAreNotCertain) {
  auto spec = EmptyComparison();
  for (const uint64_t seed : {1, 2, 3}) {
    *spec.add_parts() = FinishedRun("rope", seed, 1);
    *spec.add_parts() = FinishedRun("tape", seed, 0.5);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_THAT(ComparisonTable(comparison).rows[1],
              ElementsAre("grid", "grid_mean", "tape", "3", "-", "0.5", "0",
                          "-0.5", "-0.5", "-", "-", "1", "0.25"));
  for (auto& part : *spec.mutable_parts()) {
    part.set_part("encoding.name=" + part.part() +
                  ", training.seed=" + std::to_string(part.seed()));
  }
  EXPECT_EQ(SeedTable(spec, Tabulate(spec)).rows[0].back(), "-");
}

TEST(TablesTest, WhatASingleSeedCannotTellIsADash) {
  auto spec = RopeAndTape();
  while (spec.parts_size() > 4) spec.mutable_parts()->RemoveLast();
  spec.mutable_parts()->SwapElements(1, 3);
  while (spec.parts_size() > 2) spec.mutable_parts()->RemoveLast();
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_THAT(ComparisonTable(comparison).rows[1],
              ElementsAre("grid", "grid_mean", "tape", "1", "-", "0.7", "-",
                          "0.2", "0.4", "-", "-", "-", "-"));
}

TEST(TablesTest, DifferencesHaveBothIntervalsAndAllTheirDigits) {
  auto spec = RopeAndTape();
  const double more[] = {0.22, 0.19, 0.25, 0.2};
  for (uint64_t seed = 4; seed <= 7; ++seed) {
    *spec.add_parts() = FinishedRun("rope", seed, 0.5);
    *spec.add_parts() = FinishedRun("tape", seed, 0.5 + more[seed - 4]);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  const Table table = DifferenceTable(comparison);
  // That of the score, and that of the cost that was recorded.
  ASSERT_THAT(table.rows, SizeIs(2));
  ASSERT_THAT(table.rows[0], SizeIs(table.header.size()));
  const auto cell = [&](const std::string& name) {
    for (size_t i = 0; i < table.header.size(); ++i) {
      if (table.header[i] == name) return table.rows[0][i];
    }
    return std::string("no such column");
  };
  const auto& difference = comparison.metrics[0].comparison->differences[0];
  EXPECT_EQ(cell("arm"), "tape");
  EXPECT_EQ(cell("baseline"), "rope");
  EXPECT_EQ(cell("seeds"), "7");
  EXPECT_EQ(std::stod(cell("bootstrap_low")), difference.bootstrap.low);
  EXPECT_EQ(std::stod(cell("bootstrap_high")), difference.bootstrap.high);
  EXPECT_EQ(std::stod(cell("flip_p_adjusted")), difference.flip_p_adjusted);
  EXPECT_NE(ComparisonTable(comparison).rows[1][10], "-");
}

TEST(TablesTest, WhatASingleSeedCannotTellIsAnEmptyCellForPrograms) {
  auto spec = EmptyComparison();
  *spec.add_parts() = FinishedRun("rope", 1, 0.5);
  *spec.add_parts() = FinishedRun("tape", 1, 0.75);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison, Compare(spec, {}));
  EXPECT_EQ(
      ToCsv(DifferenceTable(comparison)),
      "evaluation,score,arm,baseline,seeds,items,difference,relative,"
      "deviation,low,high,bootstrap_low,bootstrap_high,t_p,t_p_adjusted,flip_p,"
      "flip_p_adjusted\r\n"
      "grid,grid_mean,tape,rope,1,,0.25,0.5,,,,,,,,,\r\n"
      "cost,device_seconds,tape,rope,1,,2,0.20000000000000001,,,,,,,,,\r\n");
}

TEST(TablesTest, CostsSayOverHowManySeeds) {
  auto spec = RopeAndTape();
  spec.mutable_parts(5)->set_state("FAILED");
  auto records = testing::RecordsOf(spec);
  records[3].peak_memory_bytes = int64_t{100} << 20;
  records[4].peak_memory_bytes = int64_t{101} << 20;
  spec.mutable_parts(0)->set_step_device_seconds(0.25);
  spec.mutable_parts(3)->set_step_device_seconds(0.5);
  spec.mutable_parts(4)->set_step_device_seconds(0.75);
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(spec, records));
  const Table table = CostTable(comparison);
  EXPECT_THAT(table.header,
              ElementsAre("arm", "seeds", "parameters", "of the encoding",
                          "GFLOP per step", "device seconds per step",
                          "device seconds", "peak memory (MiB)"));
  EXPECT_THAT(
      table.rows,
      ElementsAre(
          ElementsAre("rope", "2", "1000", "0", "2", "-", "10", "-"),
          ElementsAre("tape", "2", "1000", "10", "2", "0.625", "12", "100.5")));
}

TEST(TablesTest, CostsHaveDifferencesAsScoresDo) {
  ORDO_ASSERT_OK_AND_ASSIGN(const Comparison comparison,
                            Compare(RopeAndTape(), {}));
  const Table table = CostComparisonTable(comparison);
  EXPECT_EQ(table.header, ComparisonTable(comparison).header);
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(std::vector<std::string>(table.rows[1].begin(),
                                       table.rows[1].begin() + 9),
              ElementsAre("cost", "device_seconds", "tape", "3", "-", "12", "0",
                          "2", "0.2"));
}

TEST(TablesTest, EachPartHasARowWithItsScores) {
  const auto spec = RopeAndTape();
  const Table table = ScoreTable(spec, Tabulate(spec));
  EXPECT_THAT(table.header, ElementsAre("job", "part", "grid: grid_mean"));
  EXPECT_THAT(table.rows, Contains(ElementsAre("c-tape-s2", "tape", "0.73")));
}

TEST(TablesTest, EachScoreOfAStageHasARow) {
  auto spec = EmptyComparison();
  spec.set_kind("pipeline");
  *spec.add_parts() = FinishedRun("short", 1, 0.5);
  auto& test = *spec.add_parts() = FinishedRun("test", 1, 1);
  test.mutable_reports(0)->set_checkpoint("jobs/c-short-s1/checkpoints/9-1");
  auto& newer = *test.add_reports() = test.reports(0);
  newer.set_checkpoint("jobs/c-short-s1/checkpoints/10-1");
  newer.set_path("newer");
  (*newer.mutable_metrics())["outside_mean"] = 0.25;
  auto& gate = *spec.add_parts() = FinishedRun("check", 1, 0);
  auto& verdict = *gate.mutable_reports(0);
  verdict.clear_task();
  verdict.clear_checkpoint();
  verdict.set_evaluation("gate");
  auto& metrics = *verdict.mutable_metrics();
  metrics.clear();
  metrics["passed"] = 0;
  metrics["failed"] = 1;
  metrics["num_comparisons"] = 1;
  metrics["difference_grid_baseline"] = -0.5;
  const Table table =
      StageTable(spec, {{"newer", {{"outside_mean", {0.0625}}}}});
  EXPECT_THAT(table.header, ElementsAre("stage", "evaluation", "checkpoint",
                                        "score", "value", "95 % interval"));
  EXPECT_THAT(
      table.rows,
      ElementsAre(
          ElementsAre("short", "grid", "jobs/c-short-s1/checkpoints/100-1",
                      "grid_mean", "0.5", "-"),
          ElementsAre("test", "grid", "jobs/c-short-s1/checkpoints/9-1",
                      "grid_mean", "1", "-"),
          ElementsAre("test", "grid", "jobs/c-short-s1/checkpoints/10-1",
                      "grid_mean", "1", "-"),
          ElementsAre("test", "grid", "jobs/c-short-s1/checkpoints/10-1",
                      "outside_mean", "0.25", "[0.1275, 0.3725]"),
          ElementsAre("check", "gate", "-", "difference_grid_baseline", "-0.5",
                      "-")));
}

TEST(TablesTest, ARunThatWasStoppedEarlySaysWhere) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_state("CANCELLED");
  spec.mutable_parts(0)->set_reason("STOPPED_EARLY");
  EXPECT_EQ(ScoreTable(spec, Tabulate(spec)).rows[0][1],
            "rope (stopped early at step 100)");
}

TEST(TablesTest, TheRunsSayWhatTheyRecorded) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_state("FAILED");
  spec.mutable_parts(0)->set_reason("NON_FINITE");
  const Table table = PartTable(spec);
  EXPECT_THAT(
      table.rows[0],
      ElementsAre("c-rope-s1", "rope", "FAILED, NON_FINITE", "1", "100", "6400",
                  "c0ffee", "d474d474d474", "171717171717", "10"));
  EXPECT_THAT(table.rows, Each(SizeIs(table.header.size())));
}

TEST(TablesTest, ValuesKeepAllTheirDigits) {
  auto spec = RopeAndTape();
  (*spec.mutable_parts(0)->mutable_reports(0)->mutable_metrics())["grid_mean"] =
      1.0 / 3;
  const Table table = ValueTable(spec, Tabulate(spec));
  EXPECT_THAT(table.rows[0],
              ElementsAre("c-rope-s1", "rope", "1", "grid", "grid_mean",
                          "0.33333333333333331", ""));
}

TEST(TablesTest, AScoreHasTheIntervalOfItsStandardError) {
  const auto spec = RopeAndTape();
  const Results results = Tabulate(
      spec, {{spec.parts(0).reports(0).path(), {{"grid_mean", {0.125}}}}});
  EXPECT_EQ(ScoreTable(spec, results).rows[0][2], "0.5 [0.255, 0.745]");
  EXPECT_EQ(ScoreTable(spec, results).rows[1][2], "0.52");
  EXPECT_EQ(ValueTable(spec, results).rows[0][6], "0.125");
}

TEST(TablesTest, AShareHasAnIntervalAtItsEndsToo) {
  auto spec = EmptyComparison();
  *spec.add_parts() = FinishedRun("rope", 1, 1);
  *spec.add_parts() = FinishedRun("rope", 2, 0.1);
  *spec.add_parts() = FinishedRun("rope", 3, 1);
  const auto path = [&](int part) {
    return spec.parts(part).reports(0).path();
  };
  const Results results =
      Tabulate(spec, {{path(0), {{"grid_mean", {0, SampleSize{20, 20}}}}},
                      {path(1), {{"grid_mean", {0.0688, SampleSize{20, 20}}}}},
                      {path(2), {{"grid_mean", {0}}}}});
  const Table table = ScoreTable(spec, results);
  // 20 / (20 + 1.96^2).
  EXPECT_EQ(table.rows[0][2], "1 [0.8389, 1]");
  // The normal one would begin below 0.
  EXPECT_EQ(table.rows[1][2].rfind("0.1 [0.0", 0), 0u) << table.rows[1][2];
  EXPECT_EQ(table.rows[2][2], "1");
}

TEST(TablesTest, RunsThatDifferInTheirSeedAloneHaveAMean) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    part.set_part("encoding.name=" + part.part() +
                  ", training.seed=" + std::to_string(part.seed()));
  }
  spec.mutable_parts(4)->set_state("FAILED");
  const Table table = SeedTable(spec, Tabulate(spec));
  ASSERT_THAT(table.rows, SizeIs(2));
  EXPECT_THAT(table.rows[0],
              ElementsAre("encoding.name=rope", "grid", "grid_mean", "3", "0.5",
                          "0.02", "[0.4503, 0.5497]"));
  EXPECT_EQ(table.rows[1][0], "encoding.name=tape");
  EXPECT_EQ(table.rows[1][3], "2");
  for (auto& part : *spec.mutable_parts()) part.set_part(part.job());
  EXPECT_THAT(SeedTable(spec, Tabulate(spec)).rows, SizeIs(0));
}

TEST(TablesTest, RunsOfSeedsAloneAreOneGroup) {
  auto spec = EmptyComparison();
  for (const uint64_t seed : {1, 2}) {
    *spec.add_parts() = FinishedRun("rope", seed, 0.5);
    spec.mutable_parts(spec.parts_size() - 1)
        ->set_part("training.seed=" + std::to_string(seed));
  }
  const Table table = SeedTable(spec, Tabulate(spec));
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(table.rows[0][0], "all");
}

}  // namespace
}  // namespace ordo::report::summary
