#include "worker/trainer/summarize.h"

#include <string>
#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::IsOkAndHolds;
using ::ordo::training::v1::ProgressRecord;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class SummarizeTest : public ::testing::Test {
 protected:
  SummarizeTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("jobs/s");
    context_.storage_root = folder_.Path("");
    spec_.set_job("s");
    spec_.set_attempt(1);
    spec_.set_kind("sweep");
    for (const char* job : {"s-0", "s-1"}) {
      auto& part = *spec_.add_parts();
      part.set_job(job);
      part.set_part(job);
      part.set_state("SUCCEEDED");
      part.set_attempts(1);
      auto& report = *part.add_reports();
      report.set_evaluation("grid");
      report.set_path(std::string("jobs/") + job + "/results/grid-2-1");
      (*report.mutable_metrics())["grid_mean"] = 0.5;
    }
  }

  // What an attempt that began at a step recorded: the losses of those after.
  void Train(const std::string& job, int attempt, int start,
             const std::vector<double>& losses) {
    const std::string folder =
        folder_.Path("jobs/" + job + "/attempts/" + std::to_string(attempt));
    ORDO_ASSERT_OK(files_.MakeFolders(folder));
    auto writer =
        base::RecordWriter::Open(files_, folder + "/progress.records");
    ORDO_ASSERT_OK(writer);
    ProgressRecord record;
    record.mutable_started()->set_start_step(start);
    ORDO_ASSERT_OK((*writer)->Append(record.SerializeAsString()));
    for (const double loss : losses) {
      record.mutable_step()->set_step(++start);
      record.mutable_step()->set_loss(loss);
      record.mutable_step()->set_peak_memory_bytes(start << 20);
      ORDO_ASSERT_OK((*writer)->Append(record.SerializeAsString()));
    }
  }

  absl::StatusOr<ordo::training::v1::ExitCode> Run() {
    const auto progress = Progress::Open(
        files_, clock_, AttemptFolder(context_, spec_.attempt()));
    ORDO_EXPECT_OK(progress);
    return RunSummary(context_, spec_, progress->get());
  }

  std::vector<ProgressRecord> Records() {
    base::RecordReader reader(
        files_, folder_.Path("jobs/s/attempts/1/progress.records"));
    std::vector<ProgressRecord> records;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return records;
      EXPECT_TRUE(records.emplace_back().ParseFromString(**payload));
    }
  }

  std::string Read(const std::string& name) {
    const auto text = base::ReadFile(
        files_, folder_.Path("jobs/s/results/" + spec_.kind() + "-1/" + name),
        1 << 20);
    ORDO_EXPECT_OK(text);
    return text.ok() ? *text : "";
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::SummarizeSpec spec_;
};

TEST_F(SummarizeTest, LeavesOneReportWithTablesAndFigures) {
  Train("s-0", 1, 0, {3, 2});
  Train("s-1", 1, 0, {3, 1});
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("values.csv"), HasSubstr("s-1,s-1,0,grid,grid_mean,0.5"));
  EXPECT_THAT(Read("report.md"), AllOf(HasSubstr("# sweep s"),
                                       HasSubstr("](learning-curves.svg)")));
  EXPECT_THAT(Read("report.html"), HasSubstr("<svg"));
  EXPECT_THAT(Read("learning-curves.svg"), HasSubstr("s-1"));
  EXPECT_THAT(Read("learning-curves.png"), HasSubstr("PNG"));
  const std::vector<ProgressRecord> records = Records();
  ASSERT_THAT(records, SizeIs(5));
  EXPECT_EQ(records[2].evaluation().done(), 2);
  EXPECT_EQ(records[3].report().id(), "sweep");
  EXPECT_EQ(records[3].report().kind(), "sweep");
  EXPECT_EQ(records[3].report().folder(), "results/sweep-1");
  EXPECT_EQ(records[4].finished().message(), "all parts are summed up");
}

TEST_F(SummarizeTest, OfAComparisonTheDifferencesAreAFileOfTheirOwn) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("s-0");
  spec_.mutable_comparison()->set_confidence(0.95);
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("differences.csv"),
              HasSubstr("grid,grid_mean,s-1,s-0,1,,0"));
}

TEST_F(SummarizeTest, TheMostMemoryOfARunIsACost) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("s-0");
  spec_.mutable_comparison()->set_confidence(0.95);
  // As many MiB as steps.
  Train("s-0", 1, 0, {3, 2});
  Train("s-1", 1, 0, {3, 2, 1});
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  const std::string result = Read("result.json");
  EXPECT_THAT(result, HasSubstr("\"peak_memory_bytes\":2097152"));
  EXPECT_THAT(result, HasSubstr("\"peak_memory_bytes\":3145728"));
}

TEST_F(SummarizeTest, ScoresByLengthAreAFileOfTheirOwn) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("s-0");
  spec_.mutable_comparison()->set_confidence(0.95);
  for (const auto& part : spec_.parts()) {
    const std::string folder = folder_.Path(part.reports(0).path());
    ORDO_ASSERT_OK(files_.MakeFolders(folder));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder + "/result.json",
        R"({"task": "flip_flop", "task_version": 1, "seed": 1, "items": 1,
            "params": {}, "shares": [
            {"distance": 4, "error": 0.5, "count": 1, "total": 2}]})"));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder + "/items.jsonl",
        "{\"id\":\"1-0\",\"score\":1.0,\"output\":\"31\"}\n"));
  }
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("lengths.csv"),
              HasSubstr("grid,distance,4,,s-1,1,error,0.5,,"));
  EXPECT_THAT(Read("lengths-1.svg"), HasSubstr("distance"));
}

TEST_F(SummarizeTest, CellsOfAdditionAreAFileOfTheirOwn) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("s-0");
  spec_.mutable_comparison()->set_confidence(0.95);
  for (auto& part : *spec_.mutable_parts()) {
    part.mutable_reports(0)->set_task("addition_grid");
    const std::string folder = folder_.Path(part.reports(0).path());
    ORDO_ASSERT_OK(files_.MakeFolders(folder));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder + "/result.json",
        R"({"task": "addition_grid", "task_version": 1, "seed": 1, "items": 1,
            "params": {}, "max_digits": 1, "samples": 4, "cells": [[0.5]]})"));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder + "/items.jsonl",
        "{\"id\":\"1-0\",\"score\":1.0,\"output\":\"31\"}\n"));
  }
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("cells.csv"), HasSubstr("grid,s-1,1,,1,1,2,4,0.5,0."));
  EXPECT_THAT(Read("heat-map-1.svg"), HasSubstr("1 seed, 4 questions a cell"));
}

TEST_F(SummarizeTest, ScoresHaveTheIntervalsOfTheirStandardErrors) {
  const std::string folder = folder_.Path(spec_.parts(0).reports(0).path());
  ORDO_ASSERT_OK(files_.MakeFolders(folder));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder + "/result.json",
                        R"({"standard_errors": {"grid_mean": 0.15625},
                            "sampled": {"grid_mean":
                                {"units": 11, "items": 11}}})"));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("report.md"), HasSubstr("| 0.5 [0.2456, 0.7544] |"));
  EXPECT_THAT(Read("values.csv"),
              AllOf(HasSubstr("s-0,s-0,0,grid,grid_mean,0.5,0.15625\r\n"),
                    HasSubstr("s-1,s-1,0,grid,grid_mean,0.5,\r\n")));
}

TEST_F(SummarizeTest, OfAComparisonItemsAreComparedToo) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("s-0");
  spec_.mutable_comparison()->set_confidence(0.95);
  for (const auto& part : spec_.parts()) {
    const std::string folder = folder_.Path(part.reports(0).path());
    ORDO_ASSERT_OK(files_.MakeFolders(folder));
    ORDO_ASSERT_OK(base::AtomicWrite(
        files_, folder + "/result.json",
        R"({"task": "flip_flop", "task_version": 1, "seed": 1, "items": 2,
            "params": {}})"));
    const std::string second = part.job() == "s-0" ? "0.0" : "1.0";
    ORDO_ASSERT_OK(
        base::AtomicWrite(files_, folder + "/items.jsonl",
                          "{\"id\":\"1-0\",\"score\":1.0,\"output\":\"31\"}\n"
                          "{\"id\":\"1-1\",\"score\":" +
                              second + ",\"output\":\"30\"}\n"));
  }
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("report.md"), HasSubstr("| grid | s-1 | 1 | 2 | 2 | 0.5 |"));
  EXPECT_THAT(Read("result.json"), HasSubstr("\"item_differences\":[{"));
}

TEST_F(SummarizeTest, LongRunsOfAnArmKeepTheSameStepsThoughOneLacksSome) {
  spec_.set_kind("comparison");
  spec_.mutable_comparison()->set_baseline("rope");
  spec_.mutable_comparison()->set_confidence(0.95);
  for (int i = 0; i < 2; ++i) {
    spec_.mutable_parts(i)->set_part("rope");
    spec_.mutable_parts(i)->set_seed(i + 1);
  }
  Train("s-0", 1, 0, std::vector<double>(1000, 3));
  Train("s-1", 1, 2, std::vector<double>(998, 2));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("learning-curves-of-arms.svg"),
              HasSubstr("mean and range of 2 seeds"));
}

TEST_F(SummarizeTest, LaterAttemptsTakeThePlaceOfWhatEarlierOnesLost) {
  Train("s-0", 1, 0, {9, 8, 7.75});
  Train("s-0", 2, 1, {6});
  spec_.mutable_parts(0)->set_attempts(2);
  spec_.mutable_parts()->RemoveLast();
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  const std::string svg = Read("learning-curves.svg");
  // Its axis ends at step 2.
  EXPECT_THAT(svg,
              AllOf(HasSubstr(">2</tspan>"), Not(HasSubstr(">3</tspan>"))));
}

TEST_F(SummarizeTest, WithAFailedPartItReportsAndEndsWithPartFailed) {
  spec_.mutable_parts(1)->set_state("FAILED");
  spec_.mutable_parts(1)->set_message("it broke");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::PART_FAILED));
  EXPECT_THAT(Read("report.md"), HasSubstr("it broke"));
  EXPECT_EQ(Records().back().finished().message(),
            "1 of 2 parts did not succeed, the first is s-1");
}

TEST_F(SummarizeTest, APartThatWasStoppedEarlyHasNotFailed) {
  spec_.mutable_parts(1)->set_state("CANCELLED");
  spec_.mutable_parts(1)->set_reason("STOPPED_EARLY");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Read("report.md"), HasSubstr("1 of 2 runs was stopped early"));
  EXPECT_EQ(Records().back().finished().message(), "all parts are summed up");
}

TEST_F(SummarizeTest, AFinishedReportIsNotMadeAgain) {
  spec_.add_finished_reports("sweep");
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Records(), SizeIs(2));
}

TEST_F(SummarizeTest, ADamagedRecordLeavesAWarningAndTheRest) {
  Train("s-0", 1, 0, {3, 2});
  Train("s-1", 1, 0, {3, 1});
  const std::string path = folder_.Path("jobs/s-0/attempts/1/progress.records");
  auto bytes = base::ReadFile(files_, path, 1 << 20);
  ORDO_ASSERT_OK(bytes);
  (*bytes)[20] ^= 1;
  ORDO_ASSERT_OK(base::AtomicWrite(files_, path, *bytes));
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::FINISHED));
  EXPECT_THAT(Records()[1].warning().message(),
              HasSubstr("the learning curve of s-0 is not whole"));
  EXPECT_THAT(Read("report.html"), HasSubstr("s-1"));
}

TEST_F(SummarizeTest, AskedToStopItLeavesWithoutAReport) {
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(Run(), IsOkAndHolds(ordo::training::v1::STOPPED));
  EXPECT_THAT(Records(), SizeIs(2));
}

}  // namespace
}  // namespace ordo::worker::trainer
