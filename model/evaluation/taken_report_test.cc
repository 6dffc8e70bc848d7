#include "model/evaluation/taken_report.h"

#include <cerrno>
#include <cmath>

#include "base/files/file_util.h"
#include "base/files/testing/faulty_filesystem.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/result_key.h"
#include "model/evaluation/items.h"
#include "nlohmann/json.hpp"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;

class TakenReportTest : public ::testing::Test {
 protected:
  TakenReportTest() : files_(real_) {
    ReportSubject first = SubjectOf("a");
    first.task_version = 2;
    Outcome outcome;
    outcome.scores.metrics = {{"error", 0.25}, {"perplexity", std::nan("")}};
    outcome.scores.csv = "length,error\n";
    outcome.scores.markdown = "| length | error |\n";
    Item& item = outcome.items.emplace_back();
    item.id = item.unit = "1-0";
    const auto report =
        WriteReport(files_, folder_.Path("jobs/a"), first, outcome);
    ORDO_EXPECT_OK(report);
    from_.report = "jobs/a/reports/grid-40";
    from_.folder = folder_.Path("jobs/a/results/grid-40-2");
    from_.files_sha256 = catalog::FilesDigest(report->files());
  }

  static ReportSubject SubjectOf(const std::string& job) {
    ReportSubject subject;
    subject.job = job;
    subject.attempt = 2;
    subject.evaluation.set_task("addition_grid");
    subject.evaluation.set_name("grid");
    subject.evaluation.set_seed(1);
    subject.id = "grid-40";
    subject.step = 40;
    subject.checkpoint = "jobs/t/checkpoints/40-1";
    subject.key.emplace().set_task("addition_grid");
    return subject;
  }

  absl::StatusOr<ordo::training::v1::ReportWritten> Take() {
    return TakeReport(files_, folder_.Path("jobs/b"), SubjectOf("b"), from_);
  }

  base::PosixFilesystem real_;
  base::testing::FaultyFilesystem files_;
  base::testing::TemporaryFolder folder_;
  TakenFrom from_;
};

TEST_F(TakenReportTest, HasTheResultAndSaysWhereItIsFrom) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto report, Take());
  EXPECT_EQ(report.id(), "grid-40");
  EXPECT_EQ(report.folder(), "results/grid-40-2");
  EXPECT_EQ(report.taken_from(), "jobs/a/reports/grid-40");
  EXPECT_EQ(report.task_version(), 2);
  EXPECT_EQ(report.key().task(), "addition_grid");
  EXPECT_EQ(report.metrics().at("error"), 0.25);
  EXPECT_TRUE(std::isnan(report.metrics().at("perplexity")));
  const auto result = nlohmann::json::parse(
      base::ReadFile(
          real_, folder_.Path("jobs/b/results/grid-40-2/result.json"), 1 << 20)
          .value());
  EXPECT_EQ(result["job"], "b");
  EXPECT_EQ(result["taken_from"], "jobs/a/reports/grid-40");
  EXPECT_EQ(result["metrics"]["error"], 0.25);
}

TEST_F(TakenReportTest, HasTheItemsAndTables) {
  ORDO_ASSERT_OK_AND_ASSIGN(const auto report, Take());
  EXPECT_EQ(report.files_size(), 4);
  for (const char* name : {"items.jsonl", "table.csv", "table.md"}) {
    EXPECT_EQ(
        base::ReadFile(real_, folder_.Path("jobs/b/results/grid-40-2/") + name,
                       1 << 20)
            .value(),
        base::ReadFile(real_, base::JoinPath(from_.folder, name), 1 << 20)
            .value());
  }
}

TEST_F(TakenReportTest, FilesThatAreNotWhatWasRegisteredAreNotTaken) {
  ORDO_ASSERT_OK(base::AtomicWrite(
      real_, base::JoinPath(from_.folder, "items.jsonl"), "{}\n"));
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kDataLoss,
                               HasSubstr("not what was registered")));
  EXPECT_FALSE(base::Exists(real_, folder_.Path("jobs/b/results/grid-40-2")));
}

TEST_F(TakenReportTest, AFileThatIsMissingIsNotTaken) {
  ORDO_ASSERT_OK(real_.RemoveFile(base::JoinPath(from_.folder, "table.md")));
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kDataLoss, HasSubstr("")));
  ORDO_ASSERT_OK(real_.RemoveTree(from_.folder));
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("")));
}

TEST_F(TakenReportTest, NothingIsThereAfterAnError) {
  files_.Fail(base::testing::FileOperation::kAppend, "items.jsonl", ENOSPC);
  EXPECT_THAT(Take(), StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("take over jobs/a/reports/grid-40")));
  EXPECT_TRUE(real_.List(folder_.Path("jobs/b/results"))->empty());
}

}  // namespace
}  // namespace ordo::model::evaluation
