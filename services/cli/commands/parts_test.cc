#include <utility>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using jobs::v1::JobSpec;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using PartsTest = testing::CliTest;

constexpr char kCompare[] =
    "kind: compare\nname: c\ncompare:\n"
    "  run: {encoding: {name: rope}, data: {task: addition}, training: {steps: "
    "10}}\n"
    "  arms: [{name: rope}, {name: alibi, set: {encoding: {name: alibi}}}]\n"
    "  seeds: [1, 2]\n";

TEST_F(PartsTest, ShowListsThePartsOfAJobAndTheirScores) {
  scheduler_.SetJob("c", Job::QUEUED, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::COMPARE);
    job->add_parts("jobs/c-rope-s1");
  });
  scheduler_.SetJob("c-rope-s1", Job::SUCCEEDED, [](Job* job) {
    job->set_parent("jobs/c");
    job->set_part("rope");
    job->add_attempts()->set_number(1);
  });
  reports::v1::Report report;
  report.set_name("jobs/c-rope-s1/reports/grid-20");
  (*report.mutable_metrics())["grid_mean"] = 0.25;
  scheduler_.AddReport(report, {});
  EXPECT_EQ(Run({"show", "c"}), 0);
  EXPECT_THAT(out(), ContainsRegex("Kind: +compare\n"));
  EXPECT_THAT(
      out(), ContainsRegex("c-rope-s1 +rope +SUCCEEDED +grid: grid_mean=0.25"));
  EXPECT_EQ(scheduler_.list_requests().back().filter(), "parent = c");
}

TEST_F(PartsTest, ScoresOfPartsNameTheirEvaluation) {
  scheduler_.SetJob("c", Job::QUEUED, [](Job* job) {
    job->mutable_spec()->set_kind(JobSpec::SWEEP);
    job->add_parts("jobs/c-1");
    job->add_parts("jobs/c-2");
  });
  // The second was stopped before its last evaluation.
  for (const auto& [name, evaluation] :
       {std::pair("c-1", "sparse"), std::pair("c-2", "held")}) {
    scheduler_.SetJob(name, Job::SUCCEEDED, [](Job* job) {
      job->set_parent("jobs/c");
      job->add_attempts()->set_number(1);
      for (const char* of : {"held", "sparse"}) {
        auto& one = *job->mutable_spec()->add_evaluations();
        one.set_task("flip_flop");
        one.set_name(of);
      }
    });
    reports::v1::Report report;
    report.set_name(
        absl::StrCat("jobs/", name, "/reports/", evaluation, "-20"));
    report.set_step(20);
    (*report.mutable_metrics())["error"] = 0.25;
    scheduler_.AddReport(report, {});
  }
  EXPECT_EQ(Run({"show", "c"}), 0) << err();
  EXPECT_THAT(out(), ContainsRegex("c-1 .* sparse: error=0.25"));
  EXPECT_THAT(out(), ContainsRegex("c-2 .* held: error=0.25"));
}

TEST_F(PartsTest, PartsOfAJobCanBeListed) {
  scheduler_.SetJob("c", Job::QUEUED);
  EXPECT_EQ(Run({"list", "jobs", "--parent", "c", "--all-users"}), 0);
  EXPECT_EQ(scheduler_.list_requests().back().filter(), "parent = c");
  EXPECT_EQ(Run({"list", "workers", "--parent", "c"}), 2);
}

TEST_F(PartsTest, DryRunNamesThePartsAndWhatDiffers) {
  const std::string file = WriteFile("c.yaml", kCompare);
  EXPECT_EQ(Run({"submit", file, "--dry-run"}), 0);
  EXPECT_THAT(out(), HasSubstr("# 4 parts:\n"));
  EXPECT_THAT(out(), ContainsRegex("#   c-alibi-s2 +encoding=.*alibi.*, "
                                   "training.seed=2, data.seed=2\n"));
  EXPECT_THAT(err(), HasSubstr(file + ": compare.seeds: with 2 seeds"));
}

TEST_F(PartsTest, DryRunRefusesWhatAnArmHasWrong) {
  const std::string file = WriteFile("c.yaml", kCompare);
  EXPECT_EQ(Run({"submit", file, "--dry-run", "--set",
                 "compare.arms[1].set={encoding: {name: alib}}"}),
            2);
  EXPECT_THAT(err(), HasSubstr("compare.arms[1].set.encoding.name"));
}

TEST_F(PartsTest, ReportOfAParentIsTheOneThatWasWritten) {
  scheduler_.SetJob("c", Job::QUEUED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  EXPECT_NE(Run({"report", "c"}), 0);
  EXPECT_THAT(err(), HasSubstr("so wait for its parts: ordo wait c"));
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(
      report, {{"report.html", "<p>all</p>"},
               {"report.md", "alibi\n\n![Loss](loss.svg)\\\nLoss\n\nis best"}});
  const std::string page = folder_.Path("page.html");
  EXPECT_EQ(Run({"report", "c", "--html", page}), 0);
  // A terminal shows no figures.
  EXPECT_THAT(out(), HasSubstr("alibi\n\nis best"));
  EXPECT_THAT(out(), HasSubstr("wrote " + page));
  EXPECT_EQ(base::ReadFile(files_, page, 1 << 20).value(), "<p>all</p>");
}

TEST_F(PartsTest, AllFilesOfAReportLieBesideItsPage) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(report,
                       {{"report.html", "<p>all</p>"},
                        {"report.md", "![Loss](loss.svg)\\\nLoss (loss.svg)"},
                        {"result.json", R"({"controlled": true})"},
                        {"values.csv", "a,b"},
                        {"loss.svg", "<svg/>"},
                        {"loss.png", "png"},
                        {"../out", "not above"}});
  const std::string folder = folder_.Path("new");
  EXPECT_EQ(Run({"report", "c", "--html", folder + "/page.html"}), 0) << err();
  EXPECT_THAT(*files_.List(folder),
              ::testing::UnorderedElementsAre("page.html", "page.md",
                                              "page.json", "page-values.csv",
                                              "page-loss.svg", "page-loss.png",
                                              "page-out", "page-files.txt"));
  const auto text = [&](const std::string& name) {
    return base::ReadFile(files_, folder + "/" + name, 1 << 20).value();
  };
  EXPECT_EQ(text("page.md"), "![Loss](page-loss.svg)\\\nLoss (loss.svg)");
  EXPECT_EQ(text("page.json"), R"({"controlled": true})");
  EXPECT_EQ(text("page-loss.png"), "png");
  EXPECT_THAT(out(), HasSubstr("page*, the other 6 files of "
                               "jobs/c/reports/comparison\n"));
}

TEST_F(PartsTest, AReportWithoutAPageIsPrinted) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(report, {{"report.md", "alibi is best"}});
  const std::string folder = folder_.Path("none");
  EXPECT_EQ(Run({"report", "c", "--html", folder + "/page.html"}), 0) << err();
  EXPECT_THAT(out(),
              HasSubstr("all files: ordo get jobs/c/reports/comparison"));
  EXPECT_FALSE(base::Exists(files_, folder));
}

TEST_F(PartsTest, ALaterReportOfAParentTakesThePlaceOfAnEarlierOne) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(
      report, {{"report.html", "<p>new</p>"}, {"report.md", "as before"}});
  const std::string page = WriteFile("page.html", "<p>of last week</p>");
  EXPECT_EQ(Run({"report", "c", "--html", page}), 0);
  EXPECT_EQ(Run({"report", "c", "--html", page}), 0);
  EXPECT_THAT(out(), HasSubstr("as before"));
  EXPECT_EQ(base::ReadFile(files_, page, 1 << 20).value(), "<p>new</p>");
}

TEST_F(PartsTest, FilesThatALaterReportHasNotAreRemoved) {
  for (const char* name : {"c", "d"}) {
    scheduler_.SetJob(name, Job::SUCCEEDED,
                      [](Job* job) { job->add_parts("jobs/part"); });
  }
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(
      report, {{"report.html", "c"}, {"heat.png", "png"}, {"values.csv", "c"}});
  report.set_name("jobs/d/reports/comparison");
  scheduler_.AddReport(report, {{"report.html", "d"}, {"values.csv", "d"}});
  const std::string folder = folder_.Path("new");
  EXPECT_EQ(Run({"report", "c", "--html", folder + "/page.html"}), 0) << err();
  EXPECT_EQ(Run({"report", "d", "--html", folder + "/page.html"}), 0) << err();
  EXPECT_THAT(*files_.List(folder),
              ::testing::UnorderedElementsAre("page.html", "page-values.csv",
                                              "page-files.txt"));
}

TEST_F(PartsTest, TheNumbersOfAParentAreThereForPrograms) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(
      report, {{"report.html", "<p>all</p>"},
               {"report.md", "alibi is best"},
               {"result.json", R"({"controlled": true, "mean": null})"}});
  const std::string page = folder_.Path("page.html");
  EXPECT_EQ(Run({"report", "c", "--html", page, "-o", "json"}), 0);
  EXPECT_EQ(out().find('\n'), out().size() - 1);
  EXPECT_THAT(out(), HasSubstr("\"controlled\":true"));
  EXPECT_THAT(out(), HasSubstr("\"report\":\"jobs/c/reports/comparison\""));
  EXPECT_THAT(out(), HasSubstr("\"html\":\"" + page + "\""));
  EXPECT_THAT(out(), Not(HasSubstr("alibi is best")));
  EXPECT_EQ(base::ReadFile(files_, page, 1 << 20).value(), "<p>all</p>");
}

TEST_F(PartsTest, NumbersOfAParentThatAreNoneAreDamage) {
  scheduler_.SetJob("c", Job::SUCCEEDED,
                    [](Job* job) { job->add_parts("jobs/c-rope-s1"); });
  reports::v1::Report report;
  report.set_name("jobs/c/reports/comparison");
  scheduler_.AddReport(report, {{"result.json", "[1]"}});
  EXPECT_EQ(Run({"report", "c", "-o", "json"}), 9);
  EXPECT_THAT(err(), HasSubstr("result.json is no JSON object"));
}

}  // namespace
}  // namespace ordo::services::cli
