#include "services/spec/early_stopping.h"

#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ::testing::HasSubstr;
using testing::OnlyWrong;
using testing::Read;

constexpr char kMedian[] =
    "rule: median, evaluation: held, metric: grid_mean, goal: max";

// Three runs of 100 steps with two evaluations.
ordo::jobs::v1::JobSpec Sweep(const std::string& stopping,
                              const std::string& every = "every_steps: 10") {
  return Read(
      "kind: sweep\nname: s\nsweep:\n"
      "  run: {encoding: {name: rope}, data: {task: addition},"
      " training: {steps: 100}, evaluations:"
      " [{task: addition_grid}, {task: addition_grid, name: held, " +
      every +
      "}]}\n"
      "  matrix: {training.learning_rate: {values: [1e-3, 1e-2, 1e-1]}}\n"
      "  early_stopping: {" +
      stopping + "}");
}

TEST(EarlyStoppingTest, DefaultsAreTheFirstEvaluationAndThreeReports) {
  const auto made = Expand(Sweep(kMedian));
  ORDO_ASSERT_OK(made);
  const auto& stopping = made->spec.sweep().early_stopping();
  EXPECT_EQ(stopping.from_step(), 10);
  EXPECT_EQ(stopping.min_reports(), 3);
  EXPECT_FALSE(stopping.has_factor());
}

TEST(EarlyStoppingTest, HalvingHasAFactor) {
  const auto made = Expand(
      Sweep("rule: halving, evaluation: held, metric: grid_mean, goal: max, "
            "from_step: 30"));
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->spec.sweep().early_stopping().factor(), 3);
  EXPECT_EQ(made->spec.sweep().early_stopping().from_step(), 30);
}

TEST(EarlyStoppingTest, WhatIsResolvedIsResolvedToItself) {
  const auto made = Expand(Sweep(kMedian));
  ORDO_ASSERT_OK(made);
  const auto again = Expand(made->spec);
  ORDO_ASSERT_OK(again);
  EXPECT_EQ(again->spec.SerializeAsString(), made->spec.SerializeAsString());
}

TEST(EarlyStoppingTest, BadRulesAreRefused) {
  const auto wrong = [](const std::string& rest,
                        const std::string& every = "every_steps: 10") {
    return OnlyWrong(Sweep(rest, every));
  };
  const std::string rest = ", evaluation: held, metric: grid_mean, goal: max";
  EXPECT_THAT(wrong("rule: medan" + rest),
              HasSubstr("sweep.early_stopping.rule: 'medan' is not known; did "
                        "you mean 'median'?"));
  EXPECT_THAT(wrong("rule: median, metric: grid_mean, goal: max"),
              HasSubstr("early_stopping.evaluation: required"));
  EXPECT_THAT(wrong("rule: median, evaluation: hold, metric: m, goal: max"),
              HasSubstr("is called 'hold'; did you mean 'held'?"));
  EXPECT_THAT(wrong("rule: median, evaluation: held, metric: m"),
              HasSubstr("early_stopping.goal: required"));
  EXPECT_THAT(wrong("rule: median, evaluation: held, metric: gird_mean, goal: "
                    "max"),
              HasSubstr("sweep.early_stopping.metric: the evaluation 'held' of "
                        "addition_grid has no score 'gird_mean'; did you mean "
                        "'grid_mean'?"));
  EXPECT_THAT(wrong(kMedian, "at: end"),
              HasSubstr("early_stopping.evaluation: 'held' is made at the end "
                        "alone in the run with "));
  EXPECT_THAT(wrong("factor: 2, " + std::string(kMedian)),
              HasSubstr("early_stopping.factor: is for rule: halving"));
  EXPECT_THAT(wrong("factor: 1, rule: halving" + rest),
              HasSubstr("early_stopping.factor: "));
  EXPECT_THAT(wrong("from_step: 15, " + std::string(kMedian)),
              HasSubstr("early_stopping.from_step: must be a multiple of "
                        "every_steps of 'held', which is 10"));
  EXPECT_THAT(wrong("from_step: 100, " + std::string(kMedian)),
              HasSubstr("must be before the last step, which is 100"));
  EXPECT_THAT(wrong("min_reports: 1, " + std::string(kMedian)),
              HasSubstr("early_stopping.min_reports: "));
  EXPECT_THAT(wrong("min_reports: 4, " + std::string(kMedian)),
              HasSubstr("is 4, and there are 3 runs; nothing would be "
                        "stopped"));
}

TEST(EarlyStoppingTest, RunsThatDoNotTrainAreNotStopped) {
  EXPECT_THAT(
      OnlyWrong(Read("kind: sweep\nname: s\nsweep:\n"
                     "  run: {kind: evaluate, checkpoints: [jobs/a],"
                     " evaluations: [{task: addition_grid}]}\n"
                     "  matrix: {'evaluations[0].seed': {values: [1, 2]}}\n"
                     "  early_stopping: {" +
                     std::string(kMedian) + "}")),
      HasSubstr("sweep.early_stopping: is for runs that train"));
}

}  // namespace
}  // namespace ordo::services::spec
