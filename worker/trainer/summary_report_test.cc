#include "worker/trainer/summary_report.h"

#include <memory>
#include <string>

#include "base/clock/testing/fake_clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/records/records.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using base::testing::IsOkAndHolds;
using base::testing::StatusIs;

class SummaryReportTest : public ::testing::Test {
 protected:
  SummaryReportTest() : context_(files_, clock_) {
    context_.job_folder = folder_.Path("jobs/s");
    progress_ = *Progress::Open(files_, clock_, AttemptFolder(context_, 1));
    report_.set_id("sweep");
    report_.set_kind("sweep");
    report_.set_folder("results/sweep-1");
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
  std::unique_ptr<Progress> progress_;
  ordo::training::v1::ReportWritten report_;
};

TEST_F(SummaryReportTest, AReportIsWrittenAndToldWithItsFiles) {
  ORDO_ASSERT_OK(WriteSummaryReport(context_, report_, {{"a.md", "text"}},
                                    progress_.get()));
  EXPECT_THAT(
      base::ReadFile(files_, folder_.Path("jobs/s/results/sweep-1/a.md"), 100),
      IsOkAndHolds("text"));
  base::RecordReader reader(files_,
                            AttemptFolder(context_, 1) + "/progress.records");
  ordo::training::v1::ProgressRecord record;
  ASSERT_TRUE(record.ParseFromString(**reader.Next()));
  ASSERT_EQ(record.report().files_size(), 1);
  EXPECT_EQ(record.report().files(0).path(), "a.md");
  EXPECT_EQ(record.report().files(0).size_bytes(), 4);
}

TEST_F(SummaryReportTest, ACheckpointHasTheDigestOfItsManifest) {
  context_.storage_root = folder_.path();
  const std::string checkpoint = folder_.Path("jobs/s/checkpoints/5-1");
  ORDO_ASSERT_OK(files_.MakeFolders(checkpoint));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, checkpoint + "/MANIFEST.json", "{}"));
  EXPECT_EQ(DigestOfCheckpoint(context_, "5-1"), base::Sha256Hex("{}"));
  EXPECT_EQ(DigestOfCheckpoint(context_, "jobs/s/checkpoints/5-1"),
            base::Sha256Hex("{}"));
  EXPECT_EQ(DigestOfCheckpoint(context_, "6-1"), "");
}

TEST_F(SummaryReportTest, ARequestToStopLeavesNothing) {
  context_.stop_requested = [] { return true; };
  EXPECT_THAT(WriteSummaryReport(context_, report_, {{"a.md", "text"}},
                                 progress_.get()),
              StatusIs(absl::StatusCode::kCancelled));
  EXPECT_THAT(files_.Stat(folder_.Path("jobs/s/results")),
              StatusIs(absl::StatusCode::kNotFound));
  report::NamedFigure figure;
  figure.name = "curve";
  EXPECT_TRUE(DrawFigures(context_, 1, {figure}, progress_.get()).svgs.empty());
}

}  // namespace
}  // namespace ordo::worker::trainer
