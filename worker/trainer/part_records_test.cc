#include "worker/trainer/part_records.h"

#include <limits>
#include <memory>
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
#include "model/evaluation/items.h"
#include "model/evaluation/report.h"
#include "model/training/initial_values.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "worker/trainer/control.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::InitialValues;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

// Run r of two attempts, the first of which wrote what it began with.
class PartRecordsTest : public ::testing::Test {
 protected:
  PartRecordsTest() : context_(files_, clock_) {
    context_.storage_root = folder_.path();
    context_.job_folder = folder_.Path("jobs/r");
    ORDO_EXPECT_OK(files_.MakeFolders(AttemptFolder(context_, 1)));
    ORDO_EXPECT_OK(WriteInitialValues(context_, 1, values_));
    part_.set_job("r");
    part_.set_attempts(2);
    part_.mutable_control()->set_initial_digest(
        model::training::CombinedDigest(values_));
    auto progress =
        Progress::Open(files_, clock_, folder_.Path("jobs/c/attempts/1"));
    ORDO_EXPECT_OK(progress);
    progress_ = *std::move(progress);
  }

  // Of an evaluation of one item at a step.
  void AddReport(const std::string& item, int64_t step) {
    model::evaluation::ReportSubject subject;
    subject.evaluation.set_task("flip_flop");
    subject.id = "flip_flop-" + std::to_string(step);
    subject.step = step;
    model::evaluation::Outcome outcome;
    outcome.items.emplace_back();
    outcome.items.back().id = outcome.items.back().unit = item;
    ORDO_EXPECT_OK(model::evaluation::WriteReport(files_, context_.job_folder,
                                                  subject, outcome));
    auto& report = *part_.add_reports();
    report.set_evaluation("flip_flop");
    report.set_step(step);
    report.set_path("jobs/r/results/" + subject.id + "-1");
  }

  // A run of the comparison c, asked as many questions as there are scores.
  void AddRun(const std::string& arm, uint64_t seed,
              const std::vector<double>& scores) {
    auto& part = *comparison_.add_parts();
    part.set_job("c-" + arm + "-s" + std::to_string(seed));
    part.set_part(arm);
    part.set_seed(seed);
    part.set_state("SUCCEEDED");
    model::evaluation::ReportSubject subject;
    subject.evaluation.set_task("flip_flop");
    subject.id = "flip_flop-10";
    subject.step = 10;
    model::evaluation::Outcome outcome;
    for (size_t i = 0; i < scores.size(); ++i) {
      model::evaluation::Item& item = outcome.items.emplace_back();
      item.id = item.unit = "1-" + std::to_string(i);
      item.score = scores[i];
    }
    ORDO_EXPECT_OK(model::evaluation::WriteReport(
        files_, folder_.Path("jobs/" + part.job()), subject, outcome));
    auto& report = *part.add_reports();
    report.set_evaluation("flip_flop");
    report.set_task("flip_flop");
    report.set_step(10);
    report.set_path("jobs/" + part.job() + "/results/flip_flop-10-1");
  }

  std::vector<std::string> Warnings() {
    base::RecordReader reader(
        files_, folder_.Path("jobs/c/attempts/1/progress.records"));
    std::vector<std::string> warnings;
    while (true) {
      const auto payload = reader.Next();
      if (!payload.ok() || !payload->has_value()) return warnings;
      ordo::training::v1::ProgressRecord record;
      EXPECT_TRUE(record.ParseFromString(**payload));
      if (record.has_warning()) warnings.push_back(record.warning().message());
    }
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  const InitialValues values_ = {{"head", {{4, 8}, "00ff"}}};
  ordo::training::v1::PartResult part_;
  ordo::training::v1::SummarizeSpec comparison_;
  std::unique_ptr<Progress> progress_;
};

TEST_F(PartRecordsTest, InitialValuesAreThoseThatAnyAttemptWrote) {
  const auto records = ReadPartRecords(context_, part_, progress_.get());
  ASSERT_THAT(records.initial_values, ElementsAre(Key("head")));
  EXPECT_EQ(records.initial_values.at("head").shape, "4,8");
  EXPECT_EQ(records.initial_values.at("head").digest, "00ff");
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PartRecordsTest, WithoutAFileTheyAreNotKnown) {
  ORDO_ASSERT_OK(
      files_.RemoveFile(AttemptFolder(context_, 1) + "/initial.json"));
  const auto records = ReadPartRecords(context_, part_, progress_.get());
  EXPECT_THAT(records.initial_values, IsEmpty());
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PartRecordsTest, OtherValuesThanTheRunSaysAreNotTaken) {
  part_.mutable_control()->set_initial_digest("other");
  EXPECT_THAT(ReadPartRecords(context_, part_, progress_.get()).initial_values,
              IsEmpty());
  EXPECT_THAT(Warnings(),
              ElementsAre(HasSubstr("the initial values of r are not known")));
}

TEST_F(PartRecordsTest, ADamagedFileLeavesAWarning) {
  ORDO_ASSERT_OK(base::AtomicWrite(
      files_, AttemptFolder(context_, 1) + "/initial.json", "{"));
  EXPECT_THAT(ReadPartRecords(context_, part_, progress_.get()).initial_values,
              IsEmpty());
  EXPECT_THAT(Warnings(), ElementsAre(HasSubstr("initial.json")));
}

TEST_F(PartRecordsTest, QuestionsAreThoseOfTheReportsThatCount) {
  AddReport("1-0", 10);
  AddReport("1-0", 20);
  const auto records = ReadPartRecords(context_, part_, progress_.get());
  EXPECT_THAT(records.questions,
              ElementsAre(Key("jobs/r/results/flip_flop-20-1")));
  EXPECT_THAT(records.questions.begin()->second, SizeIs(64));
}

TEST_F(PartRecordsTest, ScoresByLengthAreReadWhereThereAreAny) {
  AddReport("1-0", 10);
  const std::string path = "jobs/r/results/flip_flop-10-1";
  EXPECT_THAT(ReadPartRecords(context_, part_, progress_.get()).lengths,
              IsEmpty());
  const std::string file = folder_.Path(path + "/result.json");
  ORDO_ASSERT_OK_AND_ASSIGN(std::string result,
                            base::ReadFile(files_, file, 1 << 20));
  const std::string shares =
      R"({"shares": [{"distance": 4, "error": 0.5, "count": 1, "total": 2}],)";
  result.replace(0, 1, shares);
  ORDO_ASSERT_OK(base::AtomicWrite(files_, file, result));
  const auto records = ReadPartRecords(context_, part_, progress_.get());
  ASSERT_THAT(records.lengths, ElementsAre(Key(path)));
  EXPECT_EQ(records.lengths.at(path).by, "distance");
  EXPECT_THAT(records.lengths.at(path).values,
              ElementsAre(::testing::Pair(4, 0.5)));
  EXPECT_THAT(Warnings(), IsEmpty());
  result.replace(0, shares.size(), R"({"shares": [1],)");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, file, result));
  EXPECT_THAT(ReadPartRecords(context_, part_, progress_.get()).lengths,
              IsEmpty());
  EXPECT_THAT(Warnings(),
              ElementsAre(HasSubstr("scores by length in " + path)));
}

TEST_F(PartRecordsTest, OfAdditionTheWholeGridIsRead) {
  AddReport("1-0", 10);
  const std::string path = part_.reports(0).path();
  part_.mutable_reports(0)->set_task("addition_grid");
  const std::string file = folder_.Path(path + "/result.json");
  ORDO_ASSERT_OK_AND_ASSIGN(std::string result,
                            base::ReadFile(files_, file, 1 << 20));
  result.replace(result.find("flip_flop"), 9, "addition_grid");
  result.replace(0, 1,
                 R"({"max_digits": 2, "trained_digits": 1, "samples": 4,
                     "cells": [[1, 0.5], [0.25, 0]],)");
  ORDO_ASSERT_OK(base::AtomicWrite(files_, file, result));
  const auto records = ReadPartRecords(context_, part_, progress_.get());
  ASSERT_THAT(records.grids, ElementsAre(Key(path)));
  EXPECT_EQ(records.grids.at(path).At(2, 1), 0.25);
  EXPECT_THAT(records.lengths, ElementsAre(Key(path)));
  EXPECT_THAT(Warnings(), IsEmpty());
}

TEST_F(PartRecordsTest, QuestionsThatAreGoneLeaveAWarning) {
  AddReport("1-0", 10);
  ORDO_ASSERT_OK(files_.RemoveFile(
      folder_.Path("jobs/r/results/flip_flop-10-1/items.jsonl")));
  EXPECT_THAT(ReadPartRecords(context_, part_, progress_.get()).questions,
              IsEmpty());
  EXPECT_THAT(
      Warnings(),
      ElementsAre(HasSubstr("asked in jobs/r/results/flip_flop-10-1 is not")));
}

TEST_F(PartRecordsTest, ItemsOfAnArmArePairedWithTheBaselinesSeedBySeed) {
  comparison_.mutable_comparison()->set_baseline("rope");
  AddRun("rope", 1, {1, 0, 1});
  AddRun("rope", 2, {0, 0, 1});
  AddRun("tape", 1, {1, 1, 0});
  AddRun("tape", 2, {1, 1, 1});
  auto items = ReadArmItems(context_, comparison_, progress_.get());
  ASSERT_THAT(items, SizeIs(1));
  EXPECT_EQ(items[0].evaluation, "flip_flop");
  EXPECT_EQ(items[0].arm, "tape");
  EXPECT_EQ(items[0].num_seeds, 2);
  EXPECT_EQ(items[0].score_range, 1);
  EXPECT_EQ(items[0].sample.num_items, 6);
  // An item of both seeds is one.
  ASSERT_THAT(items[0].sample.units, SizeIs(3));
  EXPECT_EQ(items[0].sample.units[0].sum, 1);
  EXPECT_EQ(items[0].sample.units[1].sum, 2);
  EXPECT_EQ(items[0].sample.units[2].sum, -1);
  EXPECT_THAT(Warnings(), IsEmpty());
  ORDO_ASSERT_OK(files_.RemoveFile(
      folder_.Path("jobs/c-tape-s2/results/flip_flop-10-1/items.jsonl")));
  EXPECT_THAT(ReadArmItems(context_, comparison_, progress_.get()), IsEmpty());
  EXPECT_THAT(
      Warnings(),
      ElementsAre(HasSubstr("items of flip_flop are not compared of tape: ")));
}

TEST_F(PartRecordsTest, ScoresOfATaskWithoutBoundsHaveNone) {
  comparison_.mutable_comparison()->set_baseline("rope");
  AddRun("rope", 1, {1, 0});
  AddRun("tape", 1, {1, 1});
  for (const char* task : {"text", "of-another-build"}) {
    for (auto& part : *comparison_.mutable_parts()) {
      part.mutable_reports(0)->set_task(task);
    }
    const auto items = ReadArmItems(context_, comparison_, progress_.get());
    ASSERT_THAT(items, SizeIs(1));
    EXPECT_EQ(items[0].score_range, std::numeric_limits<double>::infinity());
  }
}

TEST_F(PartRecordsTest, ItemsAreNotReadOnceAStopIsRequested) {
  comparison_.mutable_comparison()->set_baseline("rope");
  AddRun("rope", 1, {1, 0});
  AddRun("tape", 1, {1, 1});
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(ReadArmItems(context_, comparison_, progress_.get()), IsEmpty());
  EXPECT_THAT(Warnings(), IsEmpty());
}

}  // namespace
}  // namespace ordo::worker::trainer
