#include "worker/trainer/gate.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/result_key.h"
#include "model/evaluation/items.h"
#include "model/evaluation/report.h"
#include "model/training/checkpoint.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::model::training::testing::TinySpec;
using ::ordo::training::v1::Gate;
using ::ordo::training::v1::ProgressRecord;
using ::ordo::training::v1::ReportWritten;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A model that has learned nothing, compared with itself on a grid of 3 x 3
// with two samples.
class GateTest : public ::testing::Test {
 protected:
  GateTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("jobs/g");
    context_.storage_root = folder_.Path("");
    const auto train = TinySpec("rope");
    const auto run = *model::training::Run::Create(train);
    const auto written = model::training::WriteCheckpoint(
        files_, folder_.Path("jobs/a/checkpoints"),
        {run->State(), train, {}, true});
    ORDO_EXPECT_OK(written);
    for (const char* role : {"candidate", "baseline"}) {
      auto* subject = spec_.add_subjects();
      subject->set_role(role);
      subject->mutable_checkpoint()->set_name("jobs/a/checkpoints/0-1");
      subject->mutable_checkpoint()->set_path("jobs/a/checkpoints/0-1");
      subject->mutable_checkpoint()->set_manifest_sha256(
          written->manifest_sha256());
    }
    spec_.set_job("g");
    spec_.set_attempt(1);
    *spec_.mutable_evaluations() = train.evaluations();
    spec_.mutable_gate()->set_candidate("jobs/a");
    spec_.mutable_gate()->set_baseline("jobs/a");
    spec_.mutable_gate()->set_margin(0.4);
    spec_.mutable_gate()->set_level(0.95);
    spec_.mutable_resources()->set_threads(2);
  }

  // Makes the subject, of which the spec has two at first, a report in which so
  // many of the 18 items are right.
  void CompareWithReport(int num_right, double max_digits = 3) {
    model::evaluation::ReportSubject about;
    about.job = "b";
    about.evaluation = spec_.evaluations(0);
    (*about.evaluation.mutable_params())["max_digits"].set_number_value(
        max_digits);
    about.task_version = 2;
    about.id = "addition_grid-7";
    about.checkpoint = "jobs/a/checkpoints/0-1";
    model::evaluation::Outcome outcome;
    for (int i = 0; i < 18; ++i) {
      model::evaluation::Item& item = outcome.items.emplace_back();
      item.id = item.unit = "1-" + std::to_string(i);
      item.score = i < num_right ? 1 : 0;
      item.output = "what b says to " + item.id;
    }
    ORDO_ASSERT_OK(model::evaluation::WriteReport(
        files_, folder_.Path("jobs/b"), about, outcome));
    auto* subject = spec_.mutable_subjects(1);
    subject->clear_checkpoint();
    subject->set_report("jobs/b/results/addition_grid-7-1");
    spec_.mutable_gate()->set_baseline("jobs/b/reports/addition_grid-7");
  }

  absl::StatusOr<ordo::training::v1::ExitCode> Run() {
    const auto progress = Progress::Open(
        files_, clock_, AttemptFolder(context_, spec_.attempt()));
    ORDO_EXPECT_OK(progress);
    return RunGate(context_, spec_, progress->get());
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(
        files_, AttemptFolder(context_, spec_.attempt()) + "/progress.records");
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  std::vector<std::string> ReportsTold() {
    std::vector<std::string> ids;
    for (const auto& record : Records()) {
      if (record.has_report()) ids.push_back(record.report().id());
    }
    return ids;
  }

  std::string Read(const std::string& name) {
    const auto text = base::ReadFile(
        files_,
        folder_.Path("jobs/g/results/gate-" + std::to_string(spec_.attempt()) +
                     "/" + name),
        8 << 20);
    ORDO_EXPECT_OK(text);
    return text.ok() ? *text : "";
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::GateSpec spec_;
};

// A fixed set of which both subjects have a report already, so that what is
// right is known to the item. By the share of items that tell them apart.
class GateOfItemsTest : public GateTest,
                        public ::testing::WithParamInterface<double> {
 protected:
  // Runs a gate on so many items of which the candidate has `difference` more
  // right, and says what it says.
  std::string Decided(int num_items, double difference, double margin) {
    spec_.mutable_gate()->set_margin(margin);
    auto& params = *spec_.mutable_evaluations(0)->mutable_params();
    params["max_digits"].set_number_value(1);
    params["samples"].set_number_value(num_items);
    const double better = num_items * (GetParam() + difference) / 2;
    const double worse = num_items * (GetParam() - difference) / 2;
    for (const bool is_candidate : {true, false}) {
      model::evaluation::ReportSubject about;
      about.job = "g";
      about.attempt = spec_.attempt();
      about.evaluation = spec_.evaluations(0);
      about.task_version = 2;
      about.id =
          is_candidate ? "addition_grid-candidate" : "addition_grid-baseline";
      model::evaluation::Outcome outcome;
      for (int i = 0; i < num_items; ++i) {
        model::evaluation::Item& item = outcome.items.emplace_back();
        item.id = item.unit = "1-" + std::to_string(i);
        const bool is_better = i < better - 0.5;
        const bool is_worse = !is_better && i < better + worse - 0.5;
        item.score = (is_candidate ? is_worse : is_better) ? 0 : 1;
      }
      ORDO_EXPECT_OK(model::evaluation::WriteReport(
          files_, folder_.Path("jobs/g"), about, outcome));
      (*spec_.mutable_finished_reports())[about.id] =
          "jobs/g/results/" + about.id + "-" + std::to_string(about.attempt);
    }
    EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
    EXPECT_THAT(ReportsTold(), ElementsAre("gate"));
    return Records().back().finished().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Discordances, GateOfItemsTest,
                         ::testing::Values(0.02, 0.04, 0.1));

TEST_P(GateOfItemsTest, TwoPointsWorseOfTwoThousandItemsIsCaught) {
  EXPECT_EQ(Decided(2000, -0.02, 0.01), "Verdict: fail.");
  EXPECT_THAT(
      Read("result.json"),
      AllOf(HasSubstr("\"outcome\":\"fail\""), HasSubstr("\"num_items\":2000"),
            HasSubstr("\"num_worse\":" +
                      std::to_string(static_cast<int>(
                          std::lround(1000 * (GetParam() + 0.02)))))));
  EXPECT_THAT(Read("junit.xml"), HasSubstr("<failure"));
}

TEST_P(GateOfItemsTest, AnEqualOnePassesAtAMarginThatHasPower) {
  EXPECT_EQ(Decided(2000, 0, 0.03), "Verdict: pass.");
  EXPECT_THAT(Read("result.json"), AllOf(HasSubstr("\"outcome\":\"pass\""),
                                         ContainsRegex("\"power\":(0\\.9|1)")));
  EXPECT_THAT(Read("junit.xml"), Not(HasSubstr("<failure")));
}

TEST_P(GateOfItemsTest, FiftyItemsShowNeither) {
  for (const double difference : {-0.02, 0.0}) {
    EXPECT_EQ(Decided(50, difference, 0.02), "Verdict: inconclusive.");
    EXPECT_THAT(Read("result.json"), HasSubstr("\"outcome\":\"inconclusive\""));
    spec_.set_attempt(spec_.attempt() + 1);
  }
}

TEST_F(GateTest, AnEqualCandidatePassesAndLeavesAReport) {
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(), ElementsAre("addition_grid-candidate",
                                         "addition_grid-baseline", "gate"));
  const std::vector<ProgressRecord> records = Records();
  EXPECT_TRUE(records.front().has_started());
  EXPECT_EQ(records[1].evaluation().name(), "addition_grid-candidate");
  EXPECT_EQ(records.back().finished().message(), "Verdict: pass.");
  const auto& report = records[records.size() - 2].report();
  EXPECT_EQ(report.kind(), "gate");
  EXPECT_EQ(report.folder(), "results/gate-1");
  EXPECT_EQ(report.checkpoint(), "jobs/a/checkpoints/0-1");
  EXPECT_EQ(report.metrics().at("passed"), 1);
  EXPECT_EQ(report.metrics().at("failed"), 0);
  EXPECT_EQ(report.metrics().at("difference_addition_grid_baseline"), 0);
  EXPECT_THAT(Read("result.json"), AllOf(HasSubstr("\"verdict\":\"pass\""),
                                         HasSubstr("\"outcome\":\"pass\""),
                                         HasSubstr("jobs/a/checkpoints/0-1"),
                                         HasSubstr("ordo rerun g")));
  EXPECT_THAT(Read("gate.md"), HasSubstr("gate g: pass"));
  EXPECT_THAT(Read("report.html"), HasSubstr("<svg"));
  EXPECT_THAT(Read("comparisons.csv"), HasSubstr("addition_grid,baseline"));
  EXPECT_THAT(Read("junit.xml"), HasSubstr("<testsuite"));
  EXPECT_THAT(Read("difference.png"), HasSubstr("PNG"));
}

TEST_F(GateTest, WhatIsKnownOfACheckpointIsTakenOver) {
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::vector<ReportWritten> first;
  for (const auto& record : Records()) {
    if (record.has_report()) first.push_back(record.report());
  }
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0].key().manifest_sha256(),
            spec_.subjects(0).checkpoint().manifest_sha256());
  EXPECT_EQ(first[0].key().precision(), "fp32");
  EXPECT_EQ(first[0].taken_from(), "");
  // Both roles are one checkpoint, which is evaluated once.
  EXPECT_EQ(first[1].taken_from(), "jobs/g/reports/addition_grid-candidate");
  const std::string whole = Read("comparisons.csv");

  // Another gate is told of it, and reads nothing of the model's weights.
  auto& known = *spec_.add_known_results();
  known.set_key(model::catalog::KeyDigest(first[0].key()));
  known.set_report("jobs/g/reports/addition_grid-candidate");
  known.set_path("jobs/g/" + first[0].folder());
  known.set_files_sha256(model::catalog::FilesDigest(first[0].files()));
  ORDO_ASSERT_OK(files_.RemoveFile(
      folder_.Path("jobs/a/checkpoints/0-1/model.safetensors")));
  spec_.set_attempt(2);
  spec_.set_num_results_left_out(7);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  std::vector<std::string> taken, warnings;
  for (const auto& record : Records()) {
    if (record.has_report()) taken.push_back(record.report().taken_from());
    if (record.has_warning()) warnings.push_back(record.warning().message());
  }
  EXPECT_THAT(taken, ElementsAre("jobs/g/reports/addition_grid-candidate",
                                 "jobs/g/reports/addition_grid-candidate", ""));
  EXPECT_EQ(Read("comparisons.csv"), whole);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("7 results that are known")));
}

TEST_F(GateTest, AWorseCandidateFailsWithWhatWasAskedAndAnswered) {
  CompareWithReport(18);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  // What has a report is not evaluated again.
  EXPECT_THAT(ReportsTold(), ElementsAre("addition_grid-candidate", "gate"));
  EXPECT_EQ(Records().back().finished().message(), "Verdict: fail.");
  const std::string json = Read("result.json");
  EXPECT_THAT(json, AllOf(HasSubstr("\"outcome\":\"fail\""),
                          HasSubstr("what b says to 1-0"),
                          HasSubstr("jobs/b/reports/addition_grid-7"),
                          HasSubstr("\"prompt\":")));
  EXPECT_THAT(Read("junit.xml"), HasSubstr("<failure"));
  EXPECT_THAT(Read("gate.md"),
              HasSubstr("- addition_grid: in questions and answers numbers "
                        "have their least significant digit first."));
}

TEST_F(GateTest, FewItemsAreInconclusiveAndCountAsIsAsked) {
  spec_.mutable_gate()->set_margin(0.01);
  spec_.mutable_gate()->set_on_inconclusive(Gate::FAIL);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("result.json"),
              AllOf(HasSubstr("\"verdict\":\"inconclusive\""),
                    HasSubstr("\"outcome\":\"fail\"")));
}

TEST_F(GateTest, AnAnchorIsComparedWithAsWell) {
  *spec_.add_subjects() = spec_.subjects(1);
  spec_.mutable_subjects(2)->set_role("anchor");
  spec_.mutable_gate()->set_anchor("jobs/a");
  CompareWithReport(18);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(), ElementsAre("addition_grid-candidate",
                                         "addition_grid-anchor", "gate"));
  EXPECT_THAT(Read("comparisons.csv"),
              AllOf(HasSubstr("addition_grid,baseline,fail"),
                    HasSubstr("addition_grid,anchor,pass")));
  EXPECT_THAT(Read("result.json"), HasSubstr("\"outcome\":\"fail\""));
}

TEST_F(GateTest, ASetWithABudgetGrowsUntilItDecides) {
  spec_.mutable_gate()->set_margin(0.04);
  spec_.mutable_gate()->set_max_items(600);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  // 108 items of equal answers do not show it yet, 216 do: 12 samples of nine,
  // then 12 more.
  EXPECT_THAT(ReportsTold(), ElementsAre("addition_grid-candidate-0",
                                         "addition_grid-baseline-0",
                                         "addition_grid-candidate-12",
                                         "addition_grid-baseline-12", "gate"));
  EXPECT_THAT(Read("result.json"), AllOf(HasSubstr("\"outcome\":\"pass\""),
                                         HasSubstr("\"num_items\":216"),
                                         HasSubstr("\"budget\":594")));
}

TEST_F(GateTest, AGateThatGoesOnSaysWhatItWouldHaveSaid) {
  spec_.mutable_gate()->set_margin(0.04);
  spec_.mutable_gate()->set_max_items(600);
  ORDO_ASSERT_OK(Run());
  const std::string whole = Read("comparisons.csv");
  spec_.set_attempt(2);
  for (const char* id :
       {"addition_grid-candidate-0", "addition_grid-baseline-0"}) {
    (*spec_.mutable_finished_reports())[id] =
        std::string("jobs/g/results/") + id + "-1";
  }
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(), ElementsAre("addition_grid-candidate-12",
                                         "addition_grid-baseline-12", "gate"));
  EXPECT_EQ(Read("comparisons.csv"), whole);
}

TEST_F(GateTest, AGateThatIsDecidedDoesNothing) {
  (*spec_.mutable_finished_reports())["gate"] = "jobs/g/results/gate-1";
  spec_.set_attempt(2);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(ReportsTold(), IsEmpty());
}

TEST_F(GateTest, ABaselineOfOtherQuestionsIsABadSpec) {
  CompareWithReport(18, /*max_digits=*/2);
  const auto code = Run();
  EXPECT_EQ(ExitCodeOf(code.status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(Records().back().finished().message(),
              HasSubstr("gate.baseline: has params"));
  EXPECT_THAT(ReportsTold(), Not(::testing::Contains("gate")));
}

TEST_F(GateTest, ABudgetWithoutAnyPowerIsRefusedBeforeAnythingIsEvaluated) {
  spec_.mutable_gate()->set_margin(0.001);
  spec_.mutable_gate()->set_max_items(100);
  EXPECT_EQ(ExitCodeOf(Run().status()), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(ReportsTold(), IsEmpty());
}

TEST_F(GateTest, AReportIsNamedWithTheDigestOfItsCheckpoint) {
  CompareWithReport(18);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  const std::string digest = spec_.subjects(0).checkpoint().manifest_sha256();
  EXPECT_THAT(Read("gate.md"),
              HasSubstr("| baseline | jobs/b/reports/addition_grid-7 | " +
                        digest + " |"));
}

TEST_F(GateTest, AReportThatIsGoneIsMissingData) {
  CompareWithReport(18);
  spec_.mutable_subjects(1)->set_report("jobs/b/results/none");
  EXPECT_EQ(ExitCodeOf(Run().status()), ordo::training::v1::DATA_MISSING);
}

TEST_F(GateTest, StopsOnRequest) {
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_EQ(Records().back().finished().code(), ordo::training::v1::STOPPED);
}

}  // namespace
}  // namespace ordo::worker::trainer
