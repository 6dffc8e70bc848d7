#include "report/summary/summary.h"

#include <algorithm>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/lengths.h"
#include "report/page.h"
#include "report/stats/paired.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ordo::training::v1::SummarizeSpec;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::FinishedRun;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using testing::RecordsOf;
using testing::RopeAndTape;
using ::testing::SizeIs;

TEST(SummaryTest, AComparisonSaysWhetherItIsControlled) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Summary summary,
      Summarize(RopeAndTape(), {{}, RecordsOf(RopeAndTape())}, "now"));
  EXPECT_THAT(summary.lead, ElementsAre(HasSubstr("Controlled: ")));
  EXPECT_THAT(summary.metrics, Contains(Pair("controlled", 1)));
  EXPECT_THAT(summary.metrics, Contains(Pair("difference_grid_grid_mean_tape",
                                             DoubleNear(0.2, 1e-12))));
  EXPECT_THAT(summary.json, HasSubstr("\"controlled\":true"));
  EXPECT_THAT(summary.json, HasSubstr("\"costs\":[{"));
  EXPECT_THAT(summary.json, HasSubstr("\"relative\":0."));
  EXPECT_THAT(summary.method, HasSubstr("p (flips) not fall below k 2^(1-n)"));
}

TEST(SummaryTest, TheFirstScoreIsShownAgainstEveryCostThatWasRecorded) {
  auto spec = RopeAndTape();
  auto records = RecordsOf(spec);
  for (int i = 0; i < spec.parts_size(); ++i) {
    spec.mutable_parts(i)->set_step_device_seconds(0.25);
    records[i].peak_memory_bytes = 1 << 20;
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, {{}, records}, "now"));
  ASSERT_THAT(summary.figures, SizeIs(5));
  EXPECT_EQ(summary.figures[1].name, "cost-1");
  EXPECT_EQ(summary.figures[2].name, "cost-1-step-time");
  EXPECT_EQ(summary.figures[2].caption,
            "grid: grid_mean (more is better) against the device time of a "
            "step (s), means over 3 seeds with intervals of each (95 %). A "
            "point has no bar where there is one seed, or seeds are alike: how "
            "far others would differ is not known.");
  EXPECT_EQ(summary.figures[3].name, "cost-1-flops");
  EXPECT_EQ(summary.figures[4].name, "cost-1-memory");
  EXPECT_THAT(summary.json, HasSubstr("\"step_device_seconds\":0.25"));
}

TEST(SummaryTest, BootstrapIntervalsStandInEveryForm) {
  auto spec = RopeAndTape();
  const double more[] = {0.22, 0.19, 0.25, 0.2};
  for (uint64_t seed = 4; seed <= 7; ++seed) {
    *spec.add_parts() = FinishedRun("rope", seed, 0.5);
    *spec.add_parts() = FinishedRun("tape", seed, 0.5 + more[seed - 4]);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  EXPECT_THAT(RenderMarkdown(summary), HasSubstr("| bootstrap interval |"));
  EXPECT_THAT(RenderPage(summary, {}), HasSubstr(">bootstrap interval<"));
  EXPECT_THAT(summary.differences_csv, HasSubstr(",bootstrap_low,"));
  EXPECT_THAT(summary.json, HasSubstr("\"bootstrap\":[0."));
}

TEST(SummaryTest, DifferencesByItemStandInEveryForm) {
  Records records;
  records.items.push_back(
      {"grid", "tape", 3,
       stats::MakePairedSample(
           {{0, 1, "1-0"}, {1, 1, "1-1"}, {0, 1, "1-2"}, {1, 0, "1-3"}})
           .value()});
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(RopeAndTape(), records, "now"));
  EXPECT_THAT(RenderMarkdown(summary),
              HasSubstr("| grid | tape | 3 | 4 | 4 | 0.25 |"));
  EXPECT_THAT(RenderMarkdown(summary), HasSubstr("nothing of other seeds"));
  EXPECT_THAT(RenderPage(summary, {}), HasSubstr("intervals over items"));
  EXPECT_THAT(RenderPage(summary, {}), HasSubstr("all items count alike"));
  EXPECT_THAT(summary.json, HasSubstr("\"item_differences\":[{"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary without,
                            Summarize(RopeAndTape(), {}, "now"));
  EXPECT_THAT(RenderMarkdown(without), Not(HasSubstr("by item")));
}

TEST(SummaryTest, WithoutProofItIsNotCalledControlled) {
  auto spec = RopeAndTape();
  spec.mutable_parts(0)->set_data_digest("another");
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  EXPECT_EQ(summary.lead.front(), "Not controlled:");
  EXPECT_THAT(RenderMarkdown(summary), Not(HasSubstr("Controlled:")));
  EXPECT_THAT(RenderMarkdown(summary), HasSubstr("order of data of seed 1"));
  EXPECT_THAT(summary.metrics, Contains(Pair("controlled", 0)));
}

TEST(SummaryTest, WhatTheArmsAreToDifferInIsSaid) {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->add_differs("training.precision");
  for (int i = 3; i < 6; ++i) {
    spec.mutable_parts(i)->mutable_control()->set_precision("bf16");
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, {{}, RecordsOf(spec)}, "now"));
  EXPECT_THAT(summary.lead,
              ElementsAre(HasSubstr("Controlled: "),
                          "But for this, in which the arms are to differ:",
                          HasSubstr("precision: bf16 (c-tape-s1, ")));
  EXPECT_THAT(summary.json,
              HasSubstr("\"differs_as_asked\":[\"precision: bf16"));
}

TEST(SummaryTest, PartsThatFailedAreNamedWithTheirMessage) {
  auto spec = RopeAndTape();
  spec.set_kind("sweep");
  spec.mutable_parts(1)->set_state("FAILED");
  spec.mutable_parts(1)->set_message("loss is not finite");
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  EXPECT_THAT(summary.lead,
              ElementsAre("c-rope-s2 did not succeed (FAILED): loss is not "
                          "finite"));
  EXPECT_THAT(summary.metrics, Contains(Pair("num_failed", 1)));
  EXPECT_THAT(summary.metrics, Not(Contains(Key("controlled"))));
}

TEST(SummaryTest, RunsThatWereStoppedEarlyAreCountedAndHaveNotFailed) {
  auto spec = RopeAndTape();
  spec.set_kind("sweep");
  for (const int i : {0, 3}) {
    spec.mutable_parts(i)->set_state("CANCELLED");
    spec.mutable_parts(i)->set_reason("STOPPED_EARLY");
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  EXPECT_THAT(summary.lead,
              ElementsAre(HasSubstr("2 of 6 runs were stopped early")));
  EXPECT_THAT(summary.metrics, Contains(Pair("num_failed", 0)));
  EXPECT_THAT(summary.metrics, Contains(Pair("num_stopped_early", 2)));
}

TEST(SummaryTest, ThePageHoldsTablesAndTheFiguresThatWereDrawn) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Summary summary,
      Summarize(RopeAndTape(), Records{{{"rope", {{1, 2.0}}}}, {}}, "now"));
  ASSERT_THAT(summary.figures, SizeIs(4));
  const std::string page =
      RenderPage(summary, {"<svg id='a'></svg>", "<svg id='b'></svg>", "", ""});
  EXPECT_THAT(page, HasSubstr("<h1>comparison c</h1>"));
  EXPECT_THAT(page, HasSubstr("<svg id='figure0-a'>"));
  EXPECT_THAT(page, Not(HasSubstr("device time of a run")));
  EXPECT_THAT(page, HasSubstr("Training loss of each run"));
  EXPECT_THAT(page, HasSubstr("c-tape-s3"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

TEST(SummaryTest, ArmsHaveCurvesOfTheirRunsThatSucceeded) {
  auto spec = RopeAndTape();
  spec.mutable_parts(2)->set_state("FAILED");
  Records records;
  for (const auto& part : spec.parts()) {
    records.curves.push_back({part.part(), {{1, 2.0}}, part.job()});
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  ASSERT_THAT(summary.figures, SizeIs(5));
  EXPECT_EQ(summary.figures[1].name, "learning-curves-of-arms");
  EXPECT_THAT(summary.figures[1].figure.script, HasSubstr("\"rope (2)\""));
  EXPECT_THAT(summary.figures[1].figure.script, HasSubstr("\"tape (3)\""));
  EXPECT_EQ(summary.figures[2].name, "learning-curves");
}

TEST(SummaryTest, ScoresByLengthHaveAFigureAndATable) {
  const auto spec = RopeAndTape();
  Records records = {{}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    records.parts[i].lengths[spec.parts(i).reports(0).path()] = {
        "digits", "error", 5, {{5, 0.0}, {10, 0.5}}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  ASSERT_THAT(summary.figures, SizeIs(4));
  EXPECT_EQ(summary.figures[1].name, "lengths-1");
  EXPECT_EQ(summary.figures[1].caption,
            "grid: error against digits, means over 3 seeds with their "
            "intervals (pointwise, 95 %). Where the seeds of an arm score "
            "alike there is no interval: how far others would differ is not "
            "known. Trained on up to 5: the dashed line.");
  EXPECT_THAT(summary.lengths_csv,
              HasSubstr("\r\ngrid,digits,10,5,tape,3,error,0.5,,\r\n"));
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary without, Summarize(spec, {}, "now"));
  EXPECT_EQ(without.lengths_csv, "");
  EXPECT_EQ(without.cells_csv, "");
}

TEST(SummaryTest, WhatItCostsIsShownLast) {
  const auto spec = RopeAndTape();
  Records records = {{}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    const auto& part = spec.parts(i);
    records.curves.push_back({part.part(), {{1, 2.0}}, part.job()});
    const std::string& path = part.reports(0).path();
    records.parts[i].lengths[path] = {"digits", "error", 5, {{5, 0.0}}};
    Grid& grid = records.parts[i].grids[path];
    grid.max_digits = 1;
    grid.samples = 10;
    grid.right = {{i}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  std::vector<std::string> names;
  for (const NamedFigure& figure : summary.figures) {
    names.push_back(figure.name);
  }
  EXPECT_THAT(names, ElementsAre("difference-1", "lengths-1", "heat-map-1",
                                 "heat-map-2", "learning-curves-of-arms",
                                 "learning-curves", "cost-1", "cost-1-flops"));
}

TEST(SummaryTest, EachArmHasAHeatMapOfItsSums) {
  const auto spec = RopeAndTape();
  Records records = {{}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    Grid& grid = records.parts[i].grids[spec.parts(i).reports(0).path()];
    grid.max_digits = 1;
    grid.trained_digits = 1;
    grid.samples = 10;
    grid.right = {{i}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  ASSERT_THAT(summary.figures, SizeIs(5));
  EXPECT_EQ(summary.figures[2].name, "heat-map-2");
  // It is of one arm.
  EXPECT_THAT(summary.figures[2].figure.source, HasSubstr("tape-"));
  EXPECT_THAT(summary.figures[2].figure.source, Not(HasSubstr("rope-")));
  EXPECT_EQ(summary.figures[2].caption,
            "grid, tape: share of sums that are right in every digit, mean "
            "over 3 seeds. Trained on up to 1 digits. At 95 % (Wilson, over "
            "the questions alone) 0 right of 30 leave up to 11.4 %, 15 right "
            "33.2 to 66.8 %; cells.csv (of `ordo report` report-cells.csv) has "
            "all.");
  EXPECT_THAT(summary.figures[2].figure.script,
              HasSubstr("\"tape: 3 seeds, 30 questions a cell\""));
  EXPECT_THAT(summary.cells_csv,
              HasSubstr("\r\ngrid,tape,3,1,1,1,12,30,0.40000000000000002,0."));
  EXPECT_THAT(summary.figures[2].figure.script, HasSubstr("\n1 1 40\n"));
}

TEST(SummaryTest, TheCaptionNamesLengthsThatAreLeftOut) {
  const auto spec = RopeAndTape();
  Records records = {{}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    records.parts[i].lengths[spec.parts(i).reports(0).path()] = {
        "length", "perplexity", 0, {{5, 2.0}, {10, 3.0}}};
  }
  auto& one = records.parts[1].lengths.begin()->second;
  for (PartRecords& part : records.parts) {
    part.lengths.begin()->second.tokenizer = "sp.model with 8000 tokens";
  }
  one.values.erase(10);
  one.left_out = {10};
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  ASSERT_THAT(summary.figures, SizeIs(4));
  EXPECT_EQ(summary.figures[1].caption,
            "grid: perplexity against length, means over 3 seeds with their "
            "intervals (pointwise, 95 %). Where the seeds of an arm score "
            "alike there is no interval: how far others would differ is not "
            "known. Tokenizer: sp.model with 8000 tokens. Left out, as a run "
            "has no finite "
            "score: 10.");
}

TEST(SummaryTest, NothingByTokenIsComparedAcrossTokenizers) {
  auto spec = RopeAndTape();
  spec.mutable_comparison()->add_differs("data");
  Records records = {{{"rope", {{1, 2.0}}, "c-rope-s1"}}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    auto& report = *spec.mutable_parts(i)->mutable_reports(0);
    report.set_evaluation("text");
    auto& metrics = *report.mutable_metrics();
    metrics.clear();
    metrics["perplexity"] = i < 3 ? 11 : 35;
    metrics["bits_per_byte"] = 3.5;
    Lengths& lengths = records.parts[i].lengths[report.path()];
    lengths.by = "length";
    lengths.score = "perplexity";
    lengths.values = {{8, i < 3 ? 11.0 : 35.0}};
    lengths.bits_per_byte = {{8, {3.5, 3.25, 3.75}}};
    lengths.tokenizer =
        i < 3 ? "bytes with 260 tokens" : "sp.model with 400 tokens";
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  ASSERT_THAT(summary.lead, SizeIs(3));
  EXPECT_EQ(summary.lead.front(), "Not controlled:");
  EXPECT_EQ(summary.lead[1],
            "tokenizer of text: bytes with 260 tokens (c-rope-s1, c-rope-s2, "
            "c-rope-s3), sp.model with 400 tokens (c-tape-s1, c-tape-s2, "
            "c-tape-s3)");
  EXPECT_THAT(summary.lead, Contains(HasSubstr("nothing by token")));
  EXPECT_THAT(summary.differences_csv, Not(HasSubstr("perplexity")));
  EXPECT_THAT(summary.differences_csv, HasSubstr("text,bits_per_byte,tape,"));
  EXPECT_THAT(summary.metrics,
              Not(Contains(Key("difference_text_perplexity_tape"))));
  EXPECT_THAT(summary.lengths_csv, HasSubstr(",bits_per_byte,3.5,"));
  EXPECT_THAT(summary.lengths_csv, Not(HasSubstr("perplexity")));
  for (const NamedFigure& named : summary.figures) {
    EXPECT_THAT(named.caption, Not(HasSubstr("perplexity")));
    EXPECT_THAT(named.caption, Not(HasSubstr("raining loss")));
  }
  // One tokenizer of all is named, and compared by.
  for (PartRecords& part : records.parts) {
    part.lengths.begin()->second.tokenizer = "bytes with 260 tokens";
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary one, Summarize(spec, records, "now"));
  EXPECT_THAT(one.lead, Contains("Tokenizer of text: bytes with 260 tokens."));
  EXPECT_THAT(one.differences_csv, HasSubstr("text,perplexity,tape,"));
  EXPECT_THAT(one.lengths_csv, HasSubstr(",perplexity,11,"));
}

TEST(SummaryTest, ASweepOverTokenizersHasNoFigureOfTheirLosses) {
  auto spec = RopeAndTape();
  spec.set_kind("sweep");
  Records records;
  records.curves.push_back({"rope", {{1, 2.0}}, "c-rope-s1"});
  records.tokenizers = {"bytes with 260 tokens"};
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary one, Summarize(spec, records, "now"));
  EXPECT_THAT(one.lead, ElementsAre("Tokenizer: bytes with 260 tokens."));
  EXPECT_THAT(one.figures, SizeIs(1));
  records.tokenizers.insert("sp.model with 400 tokens");
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary two, Summarize(spec, records, "now"));
  EXPECT_THAT(two.lead,
              ElementsAre(HasSubstr("Tokenizers differ (bytes with 260 tokens, "
                                    "sp.model with 400 tokens): ")));
  EXPECT_THAT(two.figures, SizeIs(0));
}

TEST(SummaryTest, APipelineSaysFirstWhatItsGatesDecided) {
  SummarizeSpec spec;
  spec.set_job("p");
  spec.set_kind("pipeline");
  *spec.add_parts() = FinishedRun("train", 1, 0.5);
  const std::string checkpoint = spec.parts(0).checkpoint().name();
  for (const char* stage : {"test", "check"}) {
    auto& part = *spec.add_parts() = FinishedRun(stage, 1, 0.5);
    part.clear_checkpoint();
    part.mutable_reports(0)->set_checkpoint(checkpoint);
    part.mutable_reports(0)->set_checkpoint_sha256("c0ffee");
  }
  auto& other = *spec.mutable_parts(1)->add_reports() =
      spec.parts(1).reports(0);
  other.set_checkpoint("jobs/b/checkpoints/100-1");
  other.set_checkpoint_sha256("d1ce");
  auto& verdict = *spec.mutable_parts(2)->add_reports();
  verdict.set_evaluation("gate");
  verdict.set_step(100);
  (*verdict.mutable_metrics())["passed"] = 0;
  (*verdict.mutable_metrics())["failed"] = 1;
  spec.mutable_parts(2)->set_message("Verdict: fail.");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Summary summary,
      Summarize(spec, Records{{{"train", {{1, 2.0}}}}, {}}, "now"));
  ASSERT_THAT(summary.lead, SizeIs(1));
  EXPECT_EQ(summary.lead[0],
            "Gate check: fail. Its own report: ordo report c-check-s1");
  EXPECT_EQ(summary.tables.front().header.front(), "stage");
  EXPECT_THAT(summary.tables.front().rows, SizeIs(4));
  // Each checkpoint once, whoever evaluated it.
  ASSERT_THAT(summary.figures, SizeIs(1));
  EXPECT_EQ(summary.figures[0].figure.source,
            "job p; checkpoints: c-train-s1 c0ffee, jobs/b/checkpoints/100-1 "
            "d1ce; again: ordo report p");
}

TEST(SummaryTest, ATrainedLengthBesideTheAxisHasNoLineInTheCaption) {
  const auto spec = RopeAndTape();
  Records records = {{}, RecordsOf(spec)};
  for (int i = 0; i < spec.parts_size(); ++i) {
    records.parts[i].lengths[spec.parts(i).reports(0).path()] = {
        "digits", "error", 20, {{5, 0.0}, {10, 0.5}}};
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary,
                            Summarize(spec, records, "now"));
  const auto found = std::find_if(
      summary.figures.begin(), summary.figures.end(),
      [](const NamedFigure& named) { return named.name == "lengths-1"; });
  ASSERT_NE(found, summary.figures.end());
  EXPECT_THAT(found->caption, HasSubstr(" Trained on up to 20."));
  EXPECT_THAT(found->caption, Not(HasSubstr("dashed line")));
}

TEST(SummaryTest, EachFigureNamesJobCheckpointsAndCommand) {
  auto spec = RopeAndTape();
  // The last evaluates what another job trained.
  spec.mutable_parts(5)->clear_checkpoint();
  spec.mutable_parts(5)->mutable_reports(0)->set_checkpoint(
      "jobs/b/checkpoints/100-1");
  spec.mutable_parts(5)->mutable_reports(0)->set_checkpoint_sha256("d1ce");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Summary summary,
      Summarize(spec, Records{{{"rope", {{1, 2.0}}}}, {}}, "now"));
  ASSERT_THAT(summary.figures, SizeIs(4));
  for (const NamedFigure& named : summary.figures) {
    EXPECT_EQ(named.figure.source,
              "job c; checkpoints: c-rope-s1 c0ffee, c-rope-s2 c0ffee, "
              "c-rope-s3 c0ffee, c-tape-s1 c0ffee, c-tape-s2 c0ffee, "
              "jobs/b/checkpoints/100-1 d1ce; again: ordo report c");
  }
}

TEST(SummaryTest, AScoreThatWasAskedOftenHasAFigureOverSteps) {
  auto spec = RopeAndTape();
  for (auto& part : *spec.mutable_parts()) {
    *part.add_reports() = part.reports(0);
    part.mutable_reports(1)->set_step(50);
  }
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  const auto named = [](const NamedFigure& figure) {
    return figure.name == "steps-1";
  };
  EXPECT_EQ(
      std::count_if(summary.figures.begin(), summary.figures.end(), named), 1);
}

TEST(SummaryTest, OnlyTheCurvesOfRunsNameThoseThatDidNotSucceed) {
  auto spec = RopeAndTape();
  spec.mutable_parts(2)->set_state("FAILED");
  ORDO_ASSERT_OK_AND_ASSIGN(
      const Summary summary,
      Summarize(spec, Records{{{"rope", {{1, 2.0}}}}, {}}, "now"));
  ASSERT_THAT(summary.figures, SizeIs(4));
  EXPECT_EQ(summary.figures[0].name, "difference-1");
  EXPECT_THAT(summary.figures[0].figure.source, Not(HasSubstr("rope-s3")));
  EXPECT_THAT(summary.figures[0].figure.source, HasSubstr(" tape-s2 c0ffee"));
  EXPECT_EQ(summary.figures[1].name, "learning-curves");
  EXPECT_THAT(summary.figures[1].figure.source, HasSubstr(" rope-s3 c0ffee"));
}

TEST(SummaryTest, NumbersThatAreNotFiniteAreNullInTheJson) {
  auto spec = RopeAndTape();
  spec.mutable_parts()->SwapElements(1, 3);
  while (spec.parts_size() > 2) spec.mutable_parts()->RemoveLast();
  ORDO_ASSERT_OK_AND_ASSIGN(const Summary summary, Summarize(spec, {}, "now"));
  EXPECT_THAT(summary.json, HasSubstr("\"deviation\":null"));
}

TEST(SummaryTest, AnotherKindIsRefusedByName) {
  auto spec = RopeAndTape();
  spec.set_kind("gate");
  const auto violations =
      base::FieldViolations(Summarize(spec, {}, "now").status());
  ASSERT_THAT(violations, SizeIs(1));
  EXPECT_EQ(violations[0].field, "kind");
}

}  // namespace
}  // namespace ordo::report::summary
