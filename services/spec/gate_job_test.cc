#include "services/spec/gate_job.h"

#include <string>
#include <vector>

#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::util::MessageDifferencer;
using ordo::jobs::v1::JobSpec;
using ordo::training::v1::Gate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

JobSpec Read(const std::string& more_of_gate, const std::string& rest = "") {
  JobSpec spec;
  const std::string text =
      "kind: gate\nname: g\ngate: {candidate: jobs/a, baseline: jobs/b, "
      "margin: 0.02" +
      more_of_gate + "}\nevaluations: [{task: addition_grid}]\n" + rest;
  ORDO_EXPECT_OK(base::ReadMessage(text, base::TextForm::kYaml, &spec));
  return spec;
}

// With a margin that no set shows.
JobSpec Tiny(const std::string& more_of_gate) {
  JobSpec spec = Read(more_of_gate);
  spec.mutable_gate()->set_margin(1e-9);
  return spec;
}

// "field: description" of each violation.
std::vector<std::string> Wrong(const JobSpec& spec) {
  std::vector<std::string> texts;
  for (const auto& violation :
       base::FieldViolations(ResolveJobSpec(spec).status())) {
    texts.push_back(violation.field + ": " + violation.description);
  }
  return texts;
}

TEST(GateJobTest, AGateIsResolved) {
  JobSpec given =
      Read(", fail_below: margin, anchor: jobs/c/checkpoints/latest");
  ORDO_ASSERT_OK_AND_ASSIGN(const JobSpec spec, ResolveJobSpec(given));
  EXPECT_EQ(spec.gate().candidate(), "jobs/a");
  EXPECT_EQ(spec.gate().anchor(), "jobs/c");
  EXPECT_EQ(spec.gate().anchor_margin(), 0.02);
  EXPECT_EQ(spec.gate().level(), 0.95);
  EXPECT_EQ(spec.gate().fail_below(), Gate::MARGIN);
  EXPECT_EQ(spec.gate().on_inconclusive(), Gate::INCONCLUSIVE);
  EXPECT_EQ(spec.evaluations(0).name(), "addition_grid");
  EXPECT_EQ(spec.evaluations(0).params().at("samples").number_value(), 20);
  EXPECT_EQ(spec.resources().threads(), 2);
  ORDO_ASSERT_OK_AND_ASSIGN(const JobSpec again, ResolveJobSpec(spec));
  EXPECT_TRUE(MessageDifferencer::Equals(again, spec));
  EXPECT_THAT(SubjectsOf(spec), ElementsAre(Pair("gate.candidate", "jobs/a"),
                                            Pair("gate.baseline", "jobs/b"),
                                            Pair("gate.anchor", "jobs/c")));
  EXPECT_THAT(UncheckedOf(spec),
              ElementsAre(HasSubstr("gate.candidate: jobs/a is looked up"),
                          HasSubstr("gate.baseline: jobs/b"),
                          HasSubstr("gate.anchor: jobs/c")));
}

TEST(GateJobTest, WhatAGateCannotDoWithoutIsRequired) {
  JobSpec spec;
  spec.set_kind(JobSpec::GATE);
  spec.set_name("g");
  EXPECT_THAT(Wrong(spec), ElementsAre(HasSubstr("gate.candidate: required"),
                                       HasSubstr("gate.baseline: required"),
                                       HasSubstr("evaluations: required"),
                                       HasSubstr("gate.margin: required")));
}

TEST(GateJobTest, ReferencesThatAreNoneAreRefused) {
  JobSpec spec = Read("");
  spec.mutable_gate()->set_candidate("jobs/a/reports/x-1");
  spec.mutable_gate()->set_baseline("b");
  spec.mutable_gate()->set_anchor("jobs/a/reports/x/y");
  EXPECT_THAT(
      Wrong(spec),
      ElementsAre(HasSubstr("gate.candidate: must be jobs/{job}/checkpoints"),
                  HasSubstr("gate.baseline: must be jobs/{job}/checkpoints/"
                            "{step}-{attempt}, or best or latest in place of "
                            "these two, jobs/{job} for its newest, or "
                            "aliases/{alias}, or jobs/{job}/reports/{report}, "
                            "is 'b'"),
                  HasSubstr("gate.anchor: must be")));
}

TEST(GateJobTest, AReportHasOneEvaluationAndTheItemsThatItHas) {
  JobSpec spec = Read(", max_items: 5000");
  spec.mutable_gate()->set_baseline("jobs/b/reports/addition_grid-20");
  spec.add_evaluations()->set_task("counting");
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("gate.baseline: is a report, which is of "
                                    "one evaluation, and there are 2"),
                          HasSubstr("gate.baseline: is a report, which has the "
                                    "items that it has")));
  spec.mutable_evaluations()->RemoveLast();
  spec.mutable_gate()->clear_max_items();
  EXPECT_THAT(Wrong(spec), IsEmpty());
}

TEST(GateJobTest, AGateWithoutAnyPowerIsRefusedWithTheLeastBudget) {
  EXPECT_THAT(Wrong(Read(", max_items: 200")),
              ElementsAre(::testing::ContainsRegex(
                  "gate.max_items: is 200: with margin 0.02 not even .* would "
                  "pass; give [0-9]+ at least or a larger margin")));
  EXPECT_THAT(Wrong(Read(", max_items: 5000")), IsEmpty());
  // None with more than a set may have is named.
  EXPECT_THAT(Wrong(Tiny(", max_items: 200")),
              ElementsAre(HasSubstr("no budget suffices")));
}

TEST(GateJobTest, ABudgetIsNamedAsItWasGivenAndInWholeSamples) {
  JobSpec spec = Read(", max_items: 200");
  (*spec.mutable_evaluations(0)->mutable_params())["max_digits"]
      .set_number_value(6);
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("gate.max_items: is 200, which is 180 in "
                                    "whole samples of addition_grid: with")));
}

TEST(GateJobTest, AMarginThatNoFixedSetShowsIsRefused) {
  EXPECT_THAT(Wrong(Tiny("")),
              ElementsAre(HasSubstr("gate.margin: is 1e-09: not even")));
  // Its scores are shares.
  JobSpec shares = Tiny("");
  shares.mutable_evaluations(0)->set_task("flip_flop");
  EXPECT_THAT(Wrong(shares),
              ElementsAre(HasSubstr("gate.margin: is 1e-09: not even")));
}

TEST(GateJobTest, AFixedSetMayBeSmall) {
  // It can still fail.
  JobSpec small = Read("");
  (*small.mutable_evaluations(0)->mutable_params())["samples"].set_number_value(
      1);
  EXPECT_THAT(Wrong(small), IsEmpty());
}

TEST(GateJobTest, AMarginAsLargeAsScoresCanDifferIsRefused) {
  JobSpec spec = Read("");
  spec.mutable_gate()->set_margin(1.5);
  EXPECT_THAT(Wrong(spec), ElementsAre(HasSubstr("gate.margin: ")));
  spec.mutable_evaluations(0)->set_task("text");
  EXPECT_THAT(Wrong(spec), IsEmpty());
}

TEST(GateJobTest, WhatHasNoScoresOfItemsIsRefused) {
  JobSpec spec = Read("");
  spec.mutable_evaluations(0)->set_task("stability");
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("evaluations[0].task: stability has no "
                                    "scores of items")));
}

TEST(GateJobTest, MoreComparisonsThanAreDecidedTogetherAreRefused) {
  JobSpec spec = Read(", anchor: jobs/c");
  spec.clear_evaluations();
  for (int i = 0; i < 51; ++i) {
    auto* evaluation = spec.add_evaluations();
    evaluation->set_task("counting");
    evaluation->set_name("counting-" + std::to_string(i));
  }
  EXPECT_THAT(Wrong(spec), ElementsAre(HasSubstr("evaluations: are 102: give "
                                                 "1 to 100")));
}

TEST(GateJobTest, WhatIsOfOtherKindsIsRefused) {
  EXPECT_THAT(
      Wrong(Read("",
                 "checkpoints: [jobs/a]\nencoding: {name: rope}\n"
                 "benchmark: {rounds: 3}\nsweep: {max_parallel: 1}\n")),
      ElementsAre(HasSubstr("encoding: has no meaning with kind: gate"),
                  HasSubstr("checkpoints: is for kind: evaluate; a gate has "
                            "gate.candidate"),
                  HasSubstr("benchmark: is for kind: benchmark"),
                  HasSubstr("sweep: is for kind: sweep")));
  JobSpec spec = Read("");
  spec.set_kind(JobSpec::EVALUATE);
  spec.add_checkpoints("jobs/a");
  EXPECT_THAT(Wrong(spec), ElementsAre(HasSubstr("gate: is for kind: gate")));
}

TEST(GateJobTest, AGateWithoutAKindIsCheckedAsOne) {
  JobSpec spec = Read("");
  spec.clear_kind();
  spec.mutable_gate()->set_level(2);
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("kind: required; must be train, evaluate, "
                                    "benchmark, sweep, compare, pipeline or "
                                    "gate"),
                          HasSubstr("gate.level: ")));
}

TEST(GateJobTest, AGateCanBeAStageOfAPipeline) {
  JobSpec spec;
  ORDO_ASSERT_OK(base::ReadMessage(
      "kind: pipeline\n"
      "name: p\n"
      "pipeline:\n"
      "  stages:\n"
      "  - {name: t, kind: train, data: {task: addition},"
      "     encoding: {name: rope}, training: {steps: 10}}\n"
      "  - name: g\n"
      "    kind: gate\n"
      "    gate: {candidate: t, baseline: jobs/b, margin: 0.1}\n"
      "    evaluations: [{task: addition_grid}]\n",
      base::TextForm::kYaml, &spec));
  EXPECT_THAT(Wrong(spec), IsEmpty());
  spec.mutable_pipeline()->mutable_stages(1)->mutable_gate()->set_anchor("tt");
  EXPECT_THAT(Wrong(spec),
              ElementsAre(HasSubstr("pipeline.stages[1].gate.anchor: no stage "
                                    "is called 'tt'")));
}

}  // namespace
}  // namespace ordo::services::spec
