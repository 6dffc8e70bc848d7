#include "report/summary/tuning.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/summary/testing/parts.h"

namespace ordo::report::summary {
namespace {

using ::testing::ElementsAre;
using testing::FinishedRun;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::RecordsOf;
using testing::RopeAndTape;
using ::testing::SizeIs;

// Rope and tape, each with two trials, of which the second is the better one.
ordo::training::v1::SummarizeSpec Tuned() {
  auto spec = RopeAndTape();
  auto& tuning = *spec.mutable_comparison()->mutable_tuning();
  tuning.set_evaluation("tuning");
  tuning.set_metric("score");
  tuning.set_goal("max");
  for (auto& run : *spec.mutable_parts()) {
    run.set_tuned_from("c-" + run.part() + "-t1");
    run.mutable_control()->set_learning_rate(run.part() == "rope" ? 0.01
                                                                  : 0.03);
  }
  for (const std::string arm : {"rope", "tape"}) {
    for (int i = 0; i < 2; ++i) {
      auto trial = FinishedRun(arm, 9, 0.5);
      trial.set_job("c-" + arm + "-t" + std::to_string(i));
      trial.set_part(arm + ", a trial");
      trial.set_trial_of(arm);
      const double rate = i == 0 ? 0.001 : arm == "rope" ? 0.01 : 0.03;
      trial.mutable_control()->set_learning_rate(rate);
      auto& report = *trial.mutable_reports(0);
      report.set_evaluation("tuning");
      report.set_path("jobs/" + trial.job() + "/results/tuning-100-1");
      report.clear_metrics();
      (*report.mutable_metrics())["score"] = 0.25 + i;
      *spec.add_parts() = trial;
    }
  }
  return spec;
}

Control Check(const ordo::training::v1::SummarizeSpec& spec) {
  std::vector<PartRecords> records = RecordsOf(spec);
  for (int i = 0; i < spec.parts_size(); ++i) {
    if (spec.parts(i).trial_of().empty()) continue;
    for (auto& [path, digest] : records[i].questions) digest = "of trials";
  }
  Control control;
  CheckTuning(spec, records, &control);
  return control;
}

TEST(TuningTest, WhatWasChosenIsADifferenceAndNoReason) {
  const Control control = Check(Tuned());
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences,
              ElementsAre("learning rate, of the trial of each arm with the "
                          "largest score of tuning: 0.01 (rope), 0.03 "
                          "(tape)"));
}

TEST(TuningTest, WithoutTrialsThereIsNothingToSay) {
  const Control control = Check(RopeAndTape());
  EXPECT_THAT(control.reasons, IsEmpty());
  EXPECT_THAT(control.differences, IsEmpty());
}

TEST(TuningTest, TheTableNamesTrialsAndChoices) {
  const Table table = TuningTable(Tuned());
  ASSERT_THAT(table.rows, SizeIs(4));
  EXPECT_THAT(table.rows[0], ElementsAre("rope", "c-rope-t0", "SUCCEEDED",
                                         "0.001", "0.25", "-"));
  EXPECT_THAT(table.rows[3], ElementsAre("tape", "c-tape-t1", "SUCCEEDED",
                                         "0.03", "1.25", "yes"));
  EXPECT_EQ(table.header[4], "tuning: score");
}

TEST(TuningTest, RunsAreLeftWithTheirRecords) {
  const auto spec = Tuned();
  EXPECT_THAT(RunsOf(spec).parts(), SizeIs(6));
  EXPECT_THAT(RecordsOfRuns(spec, RecordsOf(spec)), SizeIs(6));
}

TEST(TuningTest, ATrialThatDivergedCountsAndOneThatWasCancelledDoesNot) {
  auto spec = Tuned();
  auto& trial = *spec.mutable_parts(6);
  trial.set_state("FAILED");
  trial.set_reason("NON_FINITE");
  trial.clear_reports();
  EXPECT_THAT(Check(spec).reasons, IsEmpty());
  EXPECT_EQ(TuningTable(spec).rows[0][2], "FAILED, NON_FINITE");
  EXPECT_EQ(TuningTable(spec).rows[0][4], "-");
  trial.set_reason("CANCELLED_BY_USER");
  EXPECT_THAT(Check(spec).reasons,
              ElementsAre(HasSubstr("not equally many trials, as these did not "
                                    "end by themselves: c-rope-t0")));
}

TEST(TuningTest, ARunThatTookSomethingElseIsAReason) {
  auto spec = Tuned();
  spec.mutable_parts(0)->mutable_control()->set_learning_rate(0.5);
  EXPECT_THAT(Check(spec).reasons,
              ElementsAre(HasSubstr("c-rope-s1 did not record")));
}

TEST(TuningTest, TrialsThatWereAskedWhatRunsAreIsAReason) {
  const auto spec = Tuned();
  std::vector<PartRecords> records = RecordsOf(spec);
  Control control;
  CheckTuning(spec, records, &control);
  EXPECT_THAT(control.reasons,
              ElementsAre("trials were chosen by what runs were asked in "
                          "grid"));
}

}  // namespace
}  // namespace ordo::report::summary
