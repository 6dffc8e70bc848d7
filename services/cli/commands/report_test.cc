#include <cstdlib>

#include "base/files/file_util.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/cli/testing/cli_test_base.h"

namespace ordo::services::cli {
namespace {

using jobs::v1::Job;
using ::testing::HasSubstr;
using ::testing::Not;
using ReportTest = testing::CliTest;

constexpr char kResult[] = R"({"task": "addition_grid", "job": "a",
  "max_digits": 2, "trained_digits": 1, "samples": 20,
  "cells": [[1, 0.5], [0.5, 0]]})";

class ReportJobTest : public testing::CliTest {
 protected:
  void AddReport(const std::string& name, int64_t step, const char* result) {
    reports::v1::Report report;
    report.set_name("jobs/a/reports/" + name);
    report.set_task("addition_grid");
    report.set_step(step);
    scheduler_.AddReport(report, {{"result.json", result}});
  }
  std::string page() const { return folder_.Path("out/report.html"); }
};

TEST_F(ReportJobTest, PrintsTheTableAndWritesPageAndFigures) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->mutable_encoding()->set_name("tape");
    (*job->mutable_spec()->mutable_encoding()->mutable_params())["size"]
        .set_number_value(16);
  });
  AddReport("addition_grid-100", 100, kResult);
  AddReport("addition_grid-50", 50, "not this one");
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(
      out(),
      HasSubstr("MODEL  STEP          ALL LENGTHS                TRAINED"));
  EXPECT_THAT(out(), HasSubstr("a       100  50.0 % [39.3, 60.7]  100.0 % "
                               "[83.9, 100.0]  33.3 % [22.7, 45.9]"));
  EXPECT_THAT(out(), HasSubstr("wrote " + page()));
  const std::string html = base::ReadFile(files_, page(), 1 << 24).value();
  EXPECT_THAT(html, HasSubstr("<svg"));
  EXPECT_THAT(html, HasSubstr("tape (size=16)"));
  EXPECT_THAT(
      *files_.List(folder_.Path("out")),
      ::testing::UnorderedElementsAre(
          "report.html", "report-metrics.csv", "report.md", "report.json",
          "report-files.txt", "report-a.png", "report-a.svg",
          "report-equal-lengths.png", "report-equal-lengths.svg"));
}

TEST_F(ReportJobTest, WithoutGnuplotThePageIsWrittenWithoutFigures) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  AddReport("addition_grid-100", 100, kResult);
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.path().c_str(), 1);
  const int code = Run({"report", "a", "--html", page()});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(code, 0);
  EXPECT_THAT(out(), HasSubstr("50.0 % [39.3, 60.7]"));
  EXPECT_THAT(out(), HasSubstr("wrote " + page()));
  EXPECT_THAT(out(), Not(HasSubstr("the figures lie beside")));
  EXPECT_THAT(err(), HasSubstr("ordo: the page lacks figures: "));
  EXPECT_THAT(err(), HasSubstr("gnuplot-nox"));
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::UnorderedElementsAre("report-metrics.csv",
                                              "report.html", "report-files.txt",
                                              "report.json", "report.md"));
  const std::string html = base::ReadFile(files_, page(), 1 << 24).value();
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(html, HasSubstr("50.0 % [39.3, 60.7]"));
}

TEST_F(ReportJobTest, SaysWhichResultsAnotherJobEvaluated) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/flip_flop-5");
  report.set_task("flip_flop");
  report.set_taken_from("jobs/b/reports/errors-5");
  (*report.mutable_metrics())["error"] = 0.5;
  scheduler_.AddReport(report, {});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(out(), HasSubstr("jobs/a/reports/flip_flop-5 was taken over from "
                               "jobs/b/reports/errors-5"));
}

TEST_F(ReportJobTest, EachFigureNamesJobCheckpointAndCommand) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/100-1");
  checkpoint.set_manifest_sha256("0123456789abcdef");
  scheduler_.AddCheckpoint(checkpoint);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/addition_grid-100");
  report.set_task("addition_grid");
  report.set_checkpoint(checkpoint.name());
  scheduler_.AddReport(report, {{"result.json", kResult}});
  EXPECT_EQ(Run({"report", "a", "--html", page(), "-o", "json"}), 0);
  for (const char* name : {"out/report-a.svg", "out/report-equal-lengths.svg",
                           "out/report.html"}) {
    const std::string text =
        base::ReadFile(files_, folder_.Path(name), 1 << 24).value();
    EXPECT_THAT(text, HasSubstr("jobs/a/checkpoints/100-1 0123456789ab; again"))
        << name;
    EXPECT_THAT(text, HasSubstr("ordo report a<")) << name;
  }
  EXPECT_THAT(out(), HasSubstr("\"checkpoint_sha256\":\"0123456789abcdef\""));
}

TEST_F(ReportJobTest, ACheckpointThatIsGoneIsNamedWithoutItsDigest) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/addition_grid-100");
  report.set_task("addition_grid");
  report.set_checkpoint("jobs/a/checkpoints/100-1");
  scheduler_.AddReport(report, {{"result.json", kResult}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(
      base::ReadFile(files_, folder_.Path("out/report-a.svg"), 1 << 24).value(),
      HasSubstr("jobs/a/checkpoints/100-1 unknown"));
}

TEST_F(ReportJobTest, NumbersAreThereForPrograms) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  AddReport("addition_grid-100", 100, kResult);
  EXPECT_EQ(Run({"report", "a", "--html", page(), "-o", "json"}), 0);
  EXPECT_EQ(out().find('\n'), out().size() - 1);
  EXPECT_THAT(out(), HasSubstr("\"right\":40,\"samples\":80,\"value\":0.5"));
}

TEST_F(ReportJobTest, AnyEvaluationHasATableOfItsMetrics) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  for (const int64_t step : {50, 100}) {
    reports::v1::Report report;
    report.set_name("jobs/a/reports/copies-" + std::to_string(step));
    report.set_kind(reports::v1::Report::EVALUATION);
    report.set_task("selective_copy");
    report.set_step(step);
    (*report.mutable_metrics())["error"] = 0.25;
    (*report.mutable_metrics())["token_error"] = 0.125;
    scheduler_.AddReport(
        report,
        {{"result.json", R"({"standard_errors": {"token_error": 0.03125},
            "sampled": {"token_error": {"units": 100, "items": 1600}}})"}});
  }
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_THAT(out(), HasSubstr(" 1600\nItems are what a score is a mean of"));
  EXPECT_THAT(out(), HasSubstr("MODEL  STEP  EVALUATION  METRIC       VALUE  "
                               "STANDARD ERROR"));
  EXPECT_THAT(out(), HasSubstr("a       100  copies      token_error  0.125"));
  // Not the older report; a page also without figures.
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::UnorderedElementsAre("report-metrics.csv",
                                              "report.html", "report-files.txt",
                                              "report.json", "report.md"));
  EXPECT_EQ(
      base::ReadFile(files_, folder_.Path("out/report-metrics.csv"), 1 << 20)
          .value(),
      "model,step,evaluation,task,metric,value,standard error\r\n"
      "a,100,copies,selective_copy,error,0.25,\r\n"
      "a,100,copies,selective_copy,token_error,0.125,0.0312\r\n");
  const std::string text =
      base::ReadFile(files_, folder_.Path("out/report.md"), 1 << 20).value();
  EXPECT_THAT(text, HasSubstr("# Results of a\n"));
  EXPECT_THAT(
      text, HasSubstr("| a | 100 | copies | selective_copy | error | 0.25 |"));
}

TEST_F(ReportJobTest, NumbersHaveTheErrorsThatTheItemsTell) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/copies-100");
  report.set_task("selective_copy");
  report.set_step(100);
  (*report.mutable_metrics())["error"] = 0.5;
  scheduler_.AddReport(
      report, {{"result.json", "{}"},
               {"items.jsonl",
                "{\"id\":\"x\",\"score\":1}\n{\"id\":\"y\",\"score\":0}\n"}});
  EXPECT_EQ(Run({"report", "a", "--html", page(), "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"standard_errors\":{\"error\":0.5}"));
}

TEST_F(ReportJobTest, TextNamesItsTokenizer) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
    auto& data = *job->mutable_spec()->mutable_data();
    data.Clear();
    data.set_task("text");
    (*data.mutable_params())["tokenizer"].set_string_value("x.model");
    job->add_attempts()->set_number(1);
  });
  scheduler_.AppendMetrics("a", "{\"step\":1,\"loss\":3}\n");
  reports::v1::Report report;
  report.set_name("jobs/a/reports/text-1");
  report.set_kind(reports::v1::Report::EVALUATION);
  report.set_task("text");
  report.set_step(1);
  (*report.mutable_metrics())["bits_per_byte"] = 3.5;
  scheduler_.AddReport(report, {{"result.json",
                                 R"({"tokenizer": "x.model",
                                     "vocabulary_size": 400})"}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("TOKENIZER"));
  EXPECT_THAT(out(), HasSubstr("x.model with 400 tokens"));
  const std::string text =
      base::ReadFile(files_, folder_.Path("out/report.md"), 1 << 20).value();
  EXPECT_THAT(text, HasSubstr("| x.model with 400 tokens |"));
  EXPECT_THAT(text, HasSubstr("Training loss, by token of x.model."));
}

TEST_F(ReportJobTest, CarriesTheNoticesOfItsJob) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->add_notices("scores mean something only with the same ids");
  });
  reports::v1::Report report;
  report.set_name("jobs/a/reports/text-1");
  report.set_task("text");
  (*report.mutable_metrics())["bits_per_byte"] = 3.5;
  scheduler_.AddReport(report, {});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0) << err();
  const std::string said = "a: scores mean something only with the same ids";
  EXPECT_THAT(out(), HasSubstr(said + "\n"));
  for (const char* name : {"html", "md", "json"}) {
    const std::string path = folder_.Path(std::string("out/report.") + name);
    EXPECT_THAT(base::ReadFile(files_, path, 1 << 24).value(), HasSubstr(said))
        << name;
  }
}

TEST_F(ReportJobTest, TrainingWithoutEvaluationsShowsItsLosses) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
    job->mutable_spec()->clear_evaluations();
    job->add_attempts()->set_number(1);
  });
  scheduler_.AppendMetrics(
      "a", "{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":2.5}\n");
  checkpoints::v1::Checkpoint checkpoint;
  checkpoint.set_name("jobs/a/checkpoints/2-1");
  checkpoint.set_manifest_sha256("0123456789abcdef");
  scheduler_.AddCheckpoint(checkpoint);
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("a              2            2.5"));
  EXPECT_THAT(
      base::ReadFile(files_, folder_.Path("out/report-learning-curves.svg"),
                     1 << 24)
          .value(),
      HasSubstr("jobs/a/checkpoints/2-1 0123456789ab"));
  EXPECT_EQ(
      base::ReadFile(files_, folder_.Path("out/report-losses.csv"), 1 << 20)
          .value(),
      "model,step,loss\r\na,1,3\r\na,2,2.5\r\n");
  EXPECT_THAT(
      base::ReadFile(files_, folder_.Path("out/report.md"), 1 << 20).value(),
      HasSubstr("](report-learning-curves.svg)"));
  EXPECT_THAT(base::ReadFile(files_, page(), 1 << 24).value(),
              HasSubstr("<h1>Results of a</h1>"));
}

TEST_F(ReportJobTest, ABenchmarkHasAPageOfItsNumbers) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::BENCHMARK);
  });
  reports::v1::Report report;
  report.set_name("jobs/a/reports/all-kernels");
  report.set_kind(reports::v1::Report::BENCHMARK);
  report.set_task("attention");
  (*report.mutable_metrics())["fwd_ratio_rope_fp32"] = 0.25;
  scheduler_.AddReport(report, {{"result.json", "{}"}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("all-kernels  fwd_ratio_rope_fp32   0.25"));
  EXPECT_THAT(base::ReadFile(files_, page(), 1 << 24).value(),
              HasSubstr("all-kernels"));
}

TEST_F(ReportJobTest, NothingOfTheReportBeforeItStays) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  AddReport("addition_grid-100", 100, kResult);
  scheduler_.SetJob("b", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/b/reports/flip_flop-100");
  report.set_task("flip_flop");
  (*report.mutable_metrics())["error"] = 0.25;
  scheduler_.AddReport(report, {{"result.json", "{}"}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0) << err();
  EXPECT_TRUE(base::Exists(files_, folder_.Path("out/report-a.svg")));
  WriteFile("out/report-mine.svg", "a person's");
  EXPECT_EQ(Run({"report", "b", "--html", page()}), 0) << err();
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::UnorderedElementsAre(
                  "report.html", "report-metrics.csv", "report.md",
                  "report.json", "report-files.txt", "report-mine.svg"));
}

TEST_F(ReportJobTest, MetricsOfAnyEvaluationAreThereForPrograms) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/flip_flop-100");
  report.set_task("flip_flop");
  report.set_step(100);
  (*report.mutable_metrics())["error"] = 0.25;
  scheduler_.AddReport(
      report, {{"result.json", R"({"standard_errors": {"error": 0.125}})"}});
  EXPECT_EQ(Run({"report", "a", "--html", page(), "-o", "json"}), 0);
  EXPECT_THAT(out(), HasSubstr("\"metrics\":{\"error\":0.25}"));
  EXPECT_THAT(out(), HasSubstr("\"standard_errors\":{\"error\":0.125}"));
}

TEST_F(ReportJobTest, EveryTaskHasFiguresThatFitIt) {
  for (const char* job : {"a", "b"}) {
    scheduler_.SetJob(job, Job::SUCCEEDED, [](Job* changed) {
      changed->mutable_spec()->set_kind(jobs::v1::JobSpec::TRAIN);
      changed->add_attempts()->set_number(1);
    });
    scheduler_.AppendMetrics(
        job, "{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":2.5}\n");
    reports::v1::Report report;
    report.set_name(std::string("jobs/") + job + "/reports/nope-100");
    report.set_task("nope");
    report.set_step(100);
    (*report.mutable_metrics())["score"] = 0.25;
    scheduler_.AddReport(report, {{"result.json", R"({"trained_length": 8,
        "shares": [{"length": 8, "accuracy": 1, "count": 4, "total": 4},
                   {"length": 16, "accuracy": 0.5, "count": 2, "total": 4}]
        })"}});
  }
  EXPECT_EQ(Run({"report", "a", "b", "--html", page()}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::UnorderedElementsAre(
                  "report.html", "report-metrics.csv", "report-losses.csv",
                  "report.json", "report.md", "report-files.txt",
                  "report-lengths-1.png", "report-lengths-1.svg",
                  "report-learning-curves.png", "report-learning-curves.svg"));
  const std::string html = base::ReadFile(files_, page(), 1 << 24).value();
  EXPECT_THAT(html, HasSubstr("<h1>Results of a, b</h1>"));
  EXPECT_THAT(html, HasSubstr("nope: error against length"));
  EXPECT_THAT(html, HasSubstr("again: ordo report a b<"));
}

TEST_F(ReportJobTest, WhatWasSeenInsideIsDrawnFromItsFiles) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/attention_map-100");
  report.set_task("attention_map");
  report.set_step(100);
  (*report.mutable_metrics())["diagonal_l2"] = 0.25;
  scheduler_.AddReport(report, {{"result.json", "{}"},
                                {"maps.csv",
                                 "source,layer,head,query,key,value\n"
                                 "full,2,0,1,1,1\nfull,2,0,2,2,0.25\n"}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_EQ(err(), "");
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::Contains("report-a-attention-map-map-1.svg"));
}

TEST_F(ReportJobTest, AResultThatCannotBeDrawnLeavesTheNumbers) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  reports::v1::Report report;
  report.set_name("jobs/a/reports/nope-100");
  report.set_task("nope");
  (*report.mutable_metrics())["score"] = 0.25;
  scheduler_.AddReport(report,
                       {{"result.json", R"({"shares": [{"length": 1}]})"}});
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(out(), HasSubstr("0.25"));
  EXPECT_THAT(err(), HasSubstr("ordo: no figures: jobs/a/reports/nope-100:"
                               "result.json"));
}

TEST_F(ReportJobTest, EvaluatingJobShowsEveryCheckpoint) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::EVALUATE);
  });
  for (const int64_t step : {50, 100}) {
    reports::v1::Report report;
    report.set_name("jobs/a/reports/addition_grid-" + std::to_string(step));
    report.set_task("addition_grid");
    report.set_step(step);
    report.set_checkpoint("jobs/b/checkpoints/" + std::to_string(step) + "-1");
    if (step == 100) report.mutable_encoding()->set_name("yarn");
    scheduler_.AddReport(report, {{"result.json", kResult}});
  }
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(out(), HasSubstr("b at step 50 "));
  EXPECT_THAT(out(), HasSubstr("b at step 100 under yarn "));
  // As they were evaluated; the list has the newest first.
  EXPECT_LT(out().find("b at step 50 "), out().find("b at step 100 "));
}

TEST_F(ReportJobTest, EvaluationsAreNamedAsTheJobNamesThem) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::EVALUATE);
    job->mutable_spec()->add_evaluations()->set_task("attention_map");
    for (const char* name : {"seen", "seen-500"}) {
      auto& evaluation = *job->mutable_spec()->add_evaluations();
      evaluation.set_task("attention_map");
      evaluation.set_name(name);
    }
  });
  // Two checkpoints of one step, and an encoding in place of another.
  for (const char* id : {"attention_map-500", "attention_map-500-2",
                         "seen-500-yarn-1a2b3c4d", "seen-500-500"}) {
    reports::v1::Report report;
    report.set_name(std::string("jobs/a/reports/") + id);
    report.set_task("attention_map");
    report.set_step(500);
    report.set_checkpoint("jobs/b/checkpoints/500-1");
    (*report.mutable_metrics())["diagonal_l2"] = 0.25;
    scheduler_.AddReport(report, {{"result.json", "{}"},
                                  {"maps.csv",
                                   "source,layer,head,query,key,value\n"
                                   "full,2,0,1,1,1\nfull,2,0,2,2,0.25\n"}});
  }
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_EQ(err(), "");
  const std::string csv =
      base::ReadFile(files_, folder_.Path("out/report-metrics.csv"), 1 << 20)
          .value();
  EXPECT_THAT(csv, HasSubstr(",500,seen,attention_map,"));
  EXPECT_THAT(csv, HasSubstr(",500,seen-500,attention_map,"));
  EXPECT_THAT(csv, HasSubstr(",500,attention_map,attention_map,"));
  EXPECT_THAT(csv, Not(HasSubstr("attention_map-500")));
  // Titles that are alike have a file each.
  EXPECT_THAT(*files_.List(folder_.Path("out")),
              ::testing::IsSupersetOf(
                  {"report-b-at-step-500-attention-map-map-1.svg",
                   "report-b-at-step-500-attention-map-map-1-2.svg"}));
  const std::string html = base::ReadFile(files_, page(), 1 << 24).value();
  EXPECT_THAT(html, HasSubstr("b at step 500 attention_map, layer 2"));
  EXPECT_THAT(html, Not(HasSubstr("attention_map-500")));
}

TEST_F(ReportJobTest, EncodingsThatDifferInAParameterHaveNamesOfTheirOwn) {
  scheduler_.SetJob("a", Job::SUCCEEDED, [](Job* job) {
    job->mutable_spec()->set_kind(jobs::v1::JobSpec::EVALUATE);
  });
  for (const int factor : {4, 8}) {
    reports::v1::Report report;
    report.set_name("jobs/a/reports/addition_grid-0-yarn-" +
                    std::to_string(factor));
    report.set_task("addition_grid");
    report.set_checkpoint("jobs/b/checkpoints/0-0");
    report.mutable_encoding()->set_name("yarn");
    auto& params = *report.mutable_encoding()->mutable_params();
    params["factor"].set_number_value(factor);
    // As by default.
    params["base"].set_number_value(10000);
    scheduler_.AddReport(report, {{"result.json", kResult}});
  }
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 0);
  EXPECT_THAT(out(), HasSubstr("b at step 0 under yarn (factor=4) "));
  EXPECT_THAT(out(), HasSubstr("b at step 0 under yarn (factor=8) "));
}

TEST_F(ReportTest, JobWithoutReportsSaysWhatToDo) {
  const auto advice = [this](jobs::v1::JobSpec::Kind kind, Job::State state,
                             const std::string& evaluates) {
    scheduler_.SetJob("a", state, [&](Job* job) {
      job->mutable_spec()->set_kind(kind);
      job->mutable_spec()->clear_evaluations();
      if (evaluates.empty()) return;
      job->mutable_spec()->add_evaluations()->set_task(evaluates);
    });
    EXPECT_EQ(Run({"report", "a"}), 2);
    const std::string begin = "ordo: a has no reports; it is ";
    EXPECT_EQ(err().rfind(begin, 0), 0u) << err();
    return err().substr(begin.size());
  };
  const auto train = jobs::v1::JobSpec::TRAIN;
  EXPECT_EQ(advice(train, Job::RUNNING, "addition_grid"),
            "RUNNING, so wait for it: ordo watch a\n");
  EXPECT_EQ(advice(train, Job::RUNNING, ""),
            "RUNNING, and has no evaluations of its own; score a checkpoint of "
            "it with: ordo evaluate a --task TASK\n");
  EXPECT_EQ(advice(train, Job::SUCCEEDED, "addition_grid"),
            "SUCCEEDED, so score a checkpoint of it with: ordo evaluate a\n");
  EXPECT_EQ(advice(train, Job::SUCCEEDED, ""),
            "SUCCEEDED, so score a checkpoint of it with: ordo evaluate a "
            "--task TASK\n");
  EXPECT_EQ(advice(train, Job::FAILED, ""),
            "FAILED, why: ordo explain a; if it left any, score a checkpoint "
            "of it with: ordo evaluate a --task TASK\n");
  const auto evaluate = jobs::v1::JobSpec::EVALUATE;
  EXPECT_EQ(advice(evaluate, Job::QUEUED, "addition_grid"),
            "QUEUED, so wait for it: ordo watch a\n");
  EXPECT_EQ(advice(evaluate, Job::CANCELLED, "addition_grid"),
            "CANCELLED, why: ordo explain a\n");
}

TEST_F(ReportJobTest, DamagedResultIsNotDrawn) {
  scheduler_.SetJob("a", Job::SUCCEEDED);
  AddReport("addition_grid-100", 100,
            R"({"task": "addition_grid", "max_digits": 2, "samples": 3,
                "cells": [[1, 0]]})");
  EXPECT_EQ(Run({"report", "a", "--html", page()}), 2);
  EXPECT_THAT(err(), HasSubstr("cells: must be 2 lists of 2"));
}

}  // namespace
}  // namespace ordo::services::cli
