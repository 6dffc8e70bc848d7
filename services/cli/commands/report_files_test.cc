#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using ReportFilesTest = testing::CliTest;

// Whoever wrote the list.
TEST_F(ReportFilesTest, AListRemovesNothingButFilesOfItsReport) {
  scheduler_.SetJob("c", jobs::v1::Job::SUCCEEDED,
                    [](jobs::v1::Job* job) { job->add_parts("jobs/part"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(report, {{"report.html", "c"}});
  WriteFile("page-files.txt",
            "mine.txt\npages.csv\n../page-up.csv\npage-old.csv\n"
            "page-gone.csv\npage.html\n\n");
  for (const char* name :
       {"mine.txt", "pages.csv", "page-old.csv", "page-other.csv"}) {
    WriteFile(name, "here");
  }
  const std::string page = folder_.Path("page.html");
  EXPECT_EQ(Run({"report", "c", "--html", page}), 0) << err();
  EXPECT_THAT(*files_.List(folder_.path()),
              ::testing::IsSupersetOf(
                  {"mine.txt", "pages.csv", "page-other.csv", "page.html"}));
  EXPECT_FALSE(base::Exists(files_, folder_.Path("page-old.csv")));
  EXPECT_EQ(
      base::ReadFile(files_, folder_.Path("page-files.txt"), 1 << 20).value(),
      "page.html\n");
}

}  // namespace
}  // namespace ordo::services::cli
