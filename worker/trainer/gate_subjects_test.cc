#include "worker/trainer/gate_subjects.h"

#include <string>
#include <vector>

#include "base/clock/clock.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/evaluation/items.h"
#include "model/training/checkpoint.h"
#include "model/training/run.h"
#include "model/training/testing/tiny_spec.h"
#include "worker/trainer/exit_code.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::testing::TinySpec;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class GateSubjectsTest : public ::testing::Test {
 protected:
  GateSubjectsTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("jobs/g");
    context_.storage_root = folder_.Path("");
    const auto train = TinySpec("rope");
    const auto run = *model::training::Run::Create(train);
    ORDO_EXPECT_OK(model::training::WriteCheckpoint(
        files_, folder_.Path("jobs/a/checkpoints"),
        {run->State(), train, {}, true}));
    spec_.set_job("g");
    spec_.set_attempt(1);
    spec_.add_subjects()->set_role("candidate");
    spec_.mutable_subjects(0)->mutable_checkpoint()->set_path(
        "jobs/a/checkpoints/0-1");
    spec_.add_subjects()->set_role("baseline");
    spec_.mutable_subjects(1)->set_report("jobs/b/results/x-1");
    *spec_.mutable_evaluations() = train.evaluations();
    spec_.mutable_gate()->set_max_items(200);
    progress_ = *Progress::Open(files_, clock_, AttemptFolder(context_, 1));
  }

  std::vector<std::string> ItemsIn(const std::string& folder) {
    auto reader =
        model::evaluation::ItemReader::Open(files_, folder + "/items.jsonl");
    ORDO_EXPECT_OK(reader);
    std::vector<std::string> ids;
    while (reader.ok()) {
      const auto item = reader->Next();
      ORDO_EXPECT_OK(item);
      if (!item.ok() || !item->has_value()) break;
      ids.push_back((*item)->id);
    }
    return ids;
  }

  base::PosixFilesystem files_;
  base::RealClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  ordo::training::v1::GateSpec spec_;
  std::unique_ptr<Progress> progress_;
  const c10::Device cpu_ = c10::Device(c10::DeviceType::CPU);
};

TEST_F(GateSubjectsTest, PiecesAreEvaluatedIntoReportsOfTheirOwn) {
  GateSubjects subjects(context_, spec_, progress_.get());
  EXPECT_EQ(subjects.growth(0).budget(), 198);
  const std::vector<WantedPiece> wanted = {{0, {0, 2}}, {0, {2, 1}}};
  ORDO_ASSERT_OK(subjects.Evaluate(0, wanted, cpu_));
  EXPECT_EQ(subjects.FolderOf(0, wanted[1]),
            folder_.Path("jobs/g/results/addition_grid-candidate-2-1"));
  const std::vector<std::string> first =
      ItemsIn(subjects.FolderOf(0, wanted[0]));
  const std::vector<std::string> second =
      ItemsIn(subjects.FolderOf(0, wanted[1]));
  EXPECT_THAT(first, SizeIs(18));
  EXPECT_THAT(second, SizeIs(9));
  // What is there is not evaluated again, for which the model would be read.
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("jobs/a")));
  ORDO_EXPECT_OK(subjects.Evaluate(0, wanted, cpu_));
  EXPECT_EQ(ExitCodeOf(subjects.Evaluate(0, {{0, {3, 1}}}, cpu_)),
            ordo::training::v1::CHECKPOINT_DAMAGED);
}

TEST_F(GateSubjectsTest, ErrorsOfAnEvaluationNameItsField) {
  auto& asked = *spec_.add_evaluations();
  asked.set_task("questions");
  asked.set_name("questions");
  (*asked.mutable_params())["path"].set_string_value("my.jsonl");
  (*asked.mutable_params())["tokenizer"].set_string_value("bytes");
  GateSubjects subjects(context_, spec_, progress_.get());
  const absl::Status missing = subjects.Evaluate(0, {{1, {}}}, cpu_);
  EXPECT_EQ(ExitCodeOf(missing), ordo::training::v1::DATA_MISSING);
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("evaluations[1].params.path: "));
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("data")));
  ORDO_ASSERT_OK(base::AtomicWrite(files_, folder_.Path("data/my.jsonl"),
                                   "{\"prompt\": \"{id}?\", \"target\": \"a\", "
                                   "\"metric\": \"f1\"}\n{\"id\": \"1\"}\n"));
  const absl::Status other = subjects.Evaluate(0, {{1, {}}}, cpu_);
  EXPECT_EQ(ExitCodeOf(other), ordo::training::v1::BAD_SPEC);
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("evaluations[1]: the model has 19 tokens"));
}

TEST_F(GateSubjectsTest, WhatIsFinishedIsWhereTheSpecSays) {
  (*spec_.mutable_finished_reports())["addition_grid-candidate-0"] =
      "jobs/g/results/addition_grid-candidate-0-7";
  ORDO_ASSERT_OK(files_.RemoveTree(folder_.Path("jobs/a")));
  GateSubjects subjects(context_, spec_, progress_.get());
  ORDO_EXPECT_OK(subjects.Evaluate(0, {{0, {0, 2}}}, cpu_));
  EXPECT_EQ(subjects.FolderOf(0, {0, {0, 2}}),
            folder_.Path("jobs/g/results/addition_grid-candidate-0-7"));
}

TEST_F(GateSubjectsTest, AReportStandsForAllThatIsAskedOfItsSubject) {
  GateSubjects subjects(context_, spec_, progress_.get());
  ORDO_EXPECT_OK(subjects.Evaluate(1, {{0, {}}}, cpu_));
  EXPECT_EQ(subjects.FolderOf(1, {0, {}}), folder_.Path("jobs/b/results/x-1"));
}

}  // namespace
}  // namespace ordo::worker::trainer
