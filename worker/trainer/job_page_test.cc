#include "worker/trainer/job_page.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/clock/testing/fake_clock.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

class JobPageTest : public ::testing::Test {
 protected:
  JobPageTest() : context_(files_, clock_) {
    context_.storage_root = folder_.path();
    context_.job_folder = folder_.Path("jobs/a");
  }

  // Below the job's folder.
  void Put(const std::string& path, const std::string& text) {
    const std::string whole = folder_.Path("jobs/a/" + path);
    ORDO_ASSERT_OK(files_.MakeFolders(base::FolderOf(whole)));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, whole, text));
  }

  void PutReport(const std::string& folder, int step, double error) {
    Put("results/" + folder + "/result.json",
        absl::StrCat("{\"task\": \"flip_flop\", \"name\": \"copies\", "
                     "\"step\": ",
                     step,
                     ", \"checkpoint\": \"jobs/a/checkpoints/20-1\", "
                     "\"metrics\": {\"error\": ",
                     error, "}}"));
  }

  std::string Read(const std::string& name) {
    const auto text =
        base::ReadFile(files_, folder_.Path("jobs/a/results/" + name), 1 << 24);
    ORDO_EXPECT_OK(text);
    return text.ok() ? *text : "";
  }

  base::PosixFilesystem files_;
  base::testing::FakeClock clock_;
  base::testing::TemporaryFolder folder_;
  TrainerContext context_;
};

TEST_F(JobPageTest, TrainingLeavesItsLossesAndTheNewestScores) {
  Put("attempts/1/metrics.jsonl",
      "{\"step\":1,\"loss\":3}\n{\"step\":10,\"loss\":2.5}\n");
  Put("attempts/2/metrics.jsonl", "{\"step\":20,\"loss\":2.25}\n");
  Put("checkpoints/20-1/MANIFEST.json", "{}");
  PutReport("copies-10-1", 10, 0.625);
  PutReport("copies-20-2", 20, 0.125);
  PutReport("copies-30-3", 30, 0.75);  // Of a job that had the name before.
  WriteJobPage(context_, {"a", {1, 2}, "rope"});
  const std::string html = Read("report.html");
  EXPECT_THAT(html, HasSubstr("<h1>Results of a</h1>"));
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("by job a; again: ordo report a"));
  const std::string text = Read("report.md");
  EXPECT_THAT(text,
              HasSubstr("| a | 20 | copies | flip_flop | error | 0.125 |"));
  EXPECT_THAT(text, Not(HasSubstr("0.625")));
  EXPECT_THAT(text, Not(HasSubstr("0.75")));
  EXPECT_THAT(text, HasSubstr("| a | 20 | 2.25 | 2.25 |"));
  EXPECT_THAT(text, HasSubstr("](learning-curves.svg)"));
  EXPECT_THAT(Read("learning-curves.svg"),
              HasSubstr("jobs/a/checkpoints/20-1 " +
                        base::Sha256Hex("{}").substr(0, 12)));
  EXPECT_THAT(Read("learning-curves.png"), HasSubstr("PNG"));
  EXPECT_THAT(Read("metrics.csv"),
              HasSubstr("a,20,copies,flip_flop,error,0.125,\r\n"));
}

TEST_F(JobPageTest, AnEvaluatingJobShowsEveryCheckpoint) {
  PutReport("copies-10-1", 10, 0.625);
  PutReport("copies-20-1", 20, 0.125);
  WriteJobPage(context_, {"e", {1}, "", true});
  const std::string text = Read("report.md");
  EXPECT_THAT(text, HasSubstr("| a at step 10 | 10 | copies |"));
  EXPECT_THAT(text, HasSubstr("| a at step 20 | 20 | copies |"));
}

TEST_F(JobPageTest, OfAReportTheNewestAttemptCounts) {
  PutReport("copies-10-1", 10, 0.625);
  PutReport("copies-10-2", 10, 0.125);
  WriteJobPage(context_, {"a", {1, 2}});
  EXPECT_THAT(Read("metrics.csv"), Not(HasSubstr("0.625")));
  EXPECT_THAT(Read("metrics.csv"), HasSubstr("0.125"));
}

TEST_F(JobPageTest, WhatCannotBeReadIsLeftOut) {
  Put("results/copies-10-1/result.json", "no JSON");
  WriteJobPage(context_, {"a", {1}});
  EXPECT_THAT(files_.Stat(folder_.Path("jobs/a/results/report.html")),
              StatusIs(absl::StatusCode::kNotFound))
      << "there is nothing to show";
  PutReport("copies-20-1", 20, 0.125);
  WriteJobPage(context_, {"a", {1}});
  EXPECT_THAT(Read("report.md"), HasSubstr("0.125"));
}

TEST_F(JobPageTest, ARequestToStopLeavesNothingOut) {
  Put("attempts/1/metrics.jsonl", "{\"step\":1,\"loss\":3}\n");
  context_.stop_requested = [] { return true; };
  WriteJobPage(context_, {"a", {1}});
  EXPECT_THAT(Read("report.html"), HasSubstr("<svg"));
  EXPECT_THAT(Read("report.md"), HasSubstr("!["));
}

TEST_F(JobPageTest, TheNumbersLieBesideItForPrograms) {
  Put("attempts/1/metrics.jsonl",
      "{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":2.5}\n");
  WriteJobPage(context_, {"a", {1}});
  EXPECT_EQ(Read("losses.csv"), "model,step,loss\r\na,1,3\r\na,2,2.5\r\n");
  EXPECT_THAT(Read("report.json"),
              HasSubstr("\"training\":[{\"loss\":2.5,\"model\":\"a\","));
}

}  // namespace
}  // namespace ordo::worker::trainer
