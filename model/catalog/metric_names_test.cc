#include "model/catalog/metric_names.h"

#include <map>
#include <string>
#include <vector>

#include "base/status/details.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::catalog {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Kind kEvaluation = Kind::kEvaluationTask;

std::vector<std::string> NamesFor(const char* task, ParamMap params = {}) {
  const Entry& entry = *Find(kEvaluation, task);
  std::vector<base::FieldViolation> violations;
  ResolveParams(entry, "", &params, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return MetricNames(entry, params);
}

ParamMap Lengths(const std::vector<std::string>& lengths) {
  ParamMap params;
  auto* list = params["lengths"].mutable_list_value();
  for (const std::string& length : lengths) {
    auto* value = list->add_values();
    if (length.back() == 'x') {
      value->set_string_value(length);
    } else {
      value->set_number_value(std::stod(length));
    }
  }
  return params;
}

TEST(MetricNamesTest, EveryEvaluationTaskIsThereAndNoOther) {
  std::vector<std::string> tasks;
  for (const Entry* entry : EntriesOf(kEvaluation)) {
    tasks.push_back(entry->name);
  }
  EXPECT_EQ(TasksWithMetricNames(), tasks);
  EXPECT_THAT(MetricNames(*Find(Kind::kTrainingTask, "flip_flop"), {}),
              IsEmpty());
}

TEST(MetricNamesTest, OneLengthHasNoNumber) {
  EXPECT_THAT(NamesFor("flip_flop"), ElementsAre("error", "wrong_rows"));
}

TEST(MetricNamesTest, EachOfSeveralLengthsHasItsOwn) {
  EXPECT_THAT(NamesFor("flip_flop", Lengths({"64", "16"})),
              ElementsAre("error", "error_longer", "error_16", "error_64",
                          "wrong_rows_16", "wrong_rows_64"));
  // The mean over lengths is that of the error.
  EXPECT_THAT(NamesFor("ruoss", Lengths({"64"})),
              ElementsAre("error", "error_longer", "error_64"));
  const auto text = NamesFor("text", Lengths({"128", "256"}));
  EXPECT_THAT(text, Contains("perplexity"));
  EXPECT_THAT(text, Contains("bits_per_byte_256"));
  EXPECT_FALSE(IsMetricName(text, "perplexity_512"));
}

TEST(MetricNamesTest, MultiplesOfAnUnknownLengthMayBeAnyNumber) {
  const auto names = NamesFor("flip_flop", Lengths({"64", "2x"}));
  EXPECT_THAT(names, Contains("error_<length>"));
  EXPECT_TRUE(IsMetricName(names, "error_512"));
  for (const char* metric : {"error_", "error_2x", "error_<length>", "eror"}) {
    EXPECT_FALSE(IsMetricName(names, metric)) << metric;
  }
}

// Of an evaluation of a model that was trained on `task` up to 8.
std::vector<std::string> NamesAfter(const char* task, const char* evaluation,
                                    ParamMap params) {
  ordo::training::v1::Data data;
  data.set_task(task);
  const Entry& training = *Find(Kind::kTrainingTask, task);
  for (const char* size :
       {"max_digits", "max_numbers", "max_length", "pairs"}) {
    if (FindParam(training, size) == nullptr) continue;
    (*data.mutable_params())[size].set_number_value(8);
  }
  std::vector<base::FieldViolation> violations;
  ResolveParams(training, "", data.mutable_params(), &violations);
  const Entry& entry = *Find(kEvaluation, evaluation);
  ResolveParams(entry, "", &params, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return MetricNames(entry, params, &data);
}

ParamMap Numbers(const std::map<std::string, double>& numbers) {
  ParamMap params;
  for (const auto& [name, number] : numbers) {
    params[name].set_number_value(number);
  }
  return params;
}

TEST(MetricNamesTest, WhatWasTrainedLeavesOutWhatIsNotAsked) {
  const auto grid = [](double digits, double numbers) {
    return NamesAfter(
        "sorting", "sorting_grid",
        Numbers({{"max_digits", digits}, {"max_numbers", numbers}}));
  };
  EXPECT_THAT(grid(8, 8), Not(Contains("outside_mean")));
  EXPECT_THAT(grid(8, 8), Contains("trained_mean"));
  EXPECT_THAT(grid(8, 9), Contains("outside_mean"));
  EXPECT_THAT(NamesAfter("multiplication", "addition_grid", {}),
              ElementsAre("grid_mean", "diagonal_mean", "largest_95"));
  const auto lengths = [](const char* task, double least, double most) {
    return NamesAfter(task, "nope",
                      Numbers({{"min_length", least}, {"max_length", most}}));
  };
  EXPECT_THAT(lengths("nope", 2, 8), ElementsAre("trained_mean"));
  EXPECT_THAT(lengths("nope", 9, 12), ElementsAre("score"));
  EXPECT_THAT(lengths("nope", 8, 9), ElementsAre("score", "trained_mean"));
  EXPECT_THAT(lengths("ruoss", 2, 8), ElementsAre("score"));
  EXPECT_THAT(NamesAfter("flip_flop", "flip_flop", Lengths({"4", "8"})),
              Not(Contains("error_longer")));
  EXPECT_THAT(NamesAfter("flip_flop", "flip_flop", Lengths({"4", "9"})),
              Contains("error_longer"));
  EXPECT_THAT(NamesAfter("nope", "flip_flop", Lengths({"4", "9"})),
              Not(Contains("error_longer")));
}

TEST(MetricNamesTest, LayersAreNumbers) {
  const auto names = NamesFor("stability");
  EXPECT_TRUE(IsMetricName(names, "shift_attention_l12"));
  EXPECT_FALSE(IsMetricName(names, "shift_attention"));
  EXPECT_FALSE(IsMetricName(names, "shift_attention_lx"));
}

TEST(MetricNamesTest, QuestionsAreScoredAsTheirFormatSaysOrTheSpec) {
  const auto of = [](const char* format, const char* metric) {
    ParamMap params;
    params["path"].set_string_value("q.jsonl");
    params["format"].set_string_value(format);
    if (*metric != 0) params["metric"].set_string_value(metric);
    return NamesFor("questions", params);
  };
  EXPECT_THAT(of("arc", ""), ElementsAre("acc", "acc_norm"));
  EXPECT_THAT(of("mmlu", ""),
              ElementsAre("acc", "acc_norm", "acc_humanities",
                          "acc_social_sciences", "acc_stem", "acc_other"));
  EXPECT_THAT(of("mmlu", "acc_norm"), Contains("acc_norm_stem"));
  EXPECT_THAT(of("qasper", ""), ElementsAre("exact_match", "f1"));
  EXPECT_THAT(of("qmsum", ""),
              ElementsAre("rouge", "rouge1", "rouge2", "rougeL"));
  // Only its file says what a task of one's own has.
  EXPECT_THAT(of("own", ""), Contains("acc"));
  EXPECT_THAT(of("own", ""), Contains("rougeLsum"));
  EXPECT_THAT(of("own", "f1"), Not(Contains("acc")));
}

}  // namespace
}  // namespace ordo::model::catalog
