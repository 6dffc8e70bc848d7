#include <string>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using testing::Compare;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kTwoArms;
using testing::NamesOf;
using testing::OnlyWrong;
using testing::Read;

constexpr char kTune[] =
    "learning_rate: [1e-3, 1e-2], metric: grid_mean, goal: max";
constexpr char kEvaluation[] = ", evaluation: {task: addition_grid, seed: 7}";

ordo::jobs::v1::JobSpec Tuned(const std::string& tune) {
  return Compare(std::string(kTwoArms) + "  seeds: [1, 2]\n  tune: {" + tune +
                 "}");
}

TEST(TuneTest, EachArmHasATrialForEachValueBeforeTheRuns) {
  const auto made = Expand(Tuned(std::string(kTune) + kEvaluation));
  EXPECT_THAT(NamesOf(made),
              ElementsAre("c-rope-t0", "c-rope-t1", "c-tape-t0", "c-tape-t1",
                          "c-rope-s1", "c-tape-s1", "c-rope-s2", "c-tape-s2"));
  const Part& trial = made->parts[3];
  EXPECT_EQ(trial.label, "tape, learning rate 0.01");
  EXPECT_EQ(trial.spec.encoding().name(), "tape");
  EXPECT_EQ(trial.spec.training().learning_rate(), 1e-2);
  EXPECT_EQ(trial.spec.training().seed(), 3u);
  EXPECT_EQ(trial.spec.data().seed(), 3u);
  ASSERT_EQ(trial.spec.evaluations_size(), 1);
  EXPECT_EQ(trial.spec.evaluations(0).name(), "tuning");
  EXPECT_EQ(trial.spec.evaluations(0).seed(), 7u);
  EXPECT_FALSE(trial.spec.has_tuned_by());
}

TEST(TuneTest, RunsNeedTheTrialsOfTheirArmAndFollowThem) {
  const auto made = Expand(Tuned(std::string(kTune) + kEvaluation));
  ORDO_ASSERT_OK(made);
  const auto& run = made->parts[5].spec;
  EXPECT_EQ(run.name(), "c-tape-s1");
  ASSERT_EQ(run.tuned_by().trials_size(), 2);
  EXPECT_EQ(run.tuned_by().trials(1).job(), "jobs/c-tape-t1");
  EXPECT_EQ(run.tuned_by().trials(1).learning_rate(), 1e-2);
  EXPECT_EQ(run.tuned_by().evaluation(), "tuning");
  EXPECT_EQ(run.tuned_by().metric(), "grid_mean");
  ASSERT_EQ(run.needs_size(), 2);
  EXPECT_EQ(run.needs(0).job(), "jobs/c-tape-t0");
  EXPECT_EQ(run.needs(0).condition(), ordo::jobs::v1::Need::ENDED);
  ASSERT_EQ(run.evaluations_size(), 1);
  EXPECT_EQ(run.evaluations(0).name(), "addition_grid");
}

TEST(TuneTest, WhatIsResolvedIsResolvedToItself) {
  const auto made = Expand(Tuned(std::string(kTune) + kEvaluation));
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(made->spec.compare().tune().seed(), 3u);
  const auto again = Expand(made->spec);
  EXPECT_THAT(NamesOf(again), ::testing::SizeIs(8));
}

TEST(TuneTest, BadTuningIsRefused) {
  const auto wrong = [](const std::string& tune) {
    return OnlyWrong(Tuned(tune));
  };
  const std::string rest =
      ", metric: grid_mean, goal: max" + std::string(kEvaluation);
  EXPECT_THAT(wrong("learning_rate: [1e-3]" + rest),
              HasSubstr("compare.tune.learning_rate: must have 2..32 values, "
                        "has 1"));
  EXPECT_THAT(wrong("learning_rate: [1e-3, 1e-3]" + rest),
              HasSubstr("compare.tune.learning_rate[1]: 0.001 is there twice"));
  EXPECT_THAT(wrong("learning_rate: [1e-3, 0]" + rest),
              HasSubstr("compare.tune.learning_rate[1]: must be above 0"));
  EXPECT_THAT(wrong("seed: 2, " + std::string(kTune) + kEvaluation),
              HasSubstr("compare.tune.seed: 2 is one of compare.seeds"));
  EXPECT_THAT(
      wrong("learning_rate: [1, 2], goal: max" + std::string(kEvaluation)),
      HasSubstr("compare.tune.metric: required"));
  EXPECT_THAT(
      wrong(std::string(kTune) +
            ", evaluation: {task: addition_grid, seed: 7, every_steps: 5}"),
      HasSubstr("compare.tune.evaluation.every_steps: trials are evaluated at "
                "their end"));
  EXPECT_THAT(wrong(std::string(kTune) + ", evaluation: {task: additon_grid}"),
              HasSubstr("compare.tune.evaluation.task: "));
}

TEST(TuneTest, TrialsAreNotChosenByWhatRunsAreAsked) {
  EXPECT_THAT(OnlyWrong(Tuned(std::string(kTune) +
                              ", evaluation: {task: addition_grid}")),
              HasSubstr("compare.tune.evaluation.seed: is 1, as that of the "
                        "evaluation 'addition_grid' of the same task"));
}

TEST(TuneTest, TrialsHaveTheScoreThatTheyAreChosenBy) {
  EXPECT_THAT(
      OnlyWrong(Tuned("learning_rate: [1e-3, 1e-2], metric: eror, goal: min" +
                      std::string(kEvaluation))),
      HasSubstr("compare.tune.metric: the evaluation 'tuning' of addition_grid "
                "has no score 'eror'; valid: grid_mean, "));
}

// A comparison on text whose runs are asked held-out text of data/a.
std::string OnlyWrongOfText(const std::string& tuning) {
  return OnlyWrong(
      Read("kind: compare\nname: c\ncompare:\n"
           "  run: {encoding: {name: rope}, data: {task: text, params: {data: "
           "[a]}}, training: {steps: 10}, evaluations: [{task: text}]}\n" +
           std::string(kTwoArms) +
           "  tune: {learning_rate: [1e-3, 1e-2], metric: perplexity, goal: "
           "min, evaluation: {task: text, params: {" +
           tuning + "}}}"));
}

TEST(TuneTest, NorByTextThatRunsAreAskedOrThatIsTrainedOn) {
  EXPECT_THAT(OnlyWrongOfText(""),
              HasSubstr("compare.tune.evaluation: reads a, as the evaluation "
                        "'text' does"));
  EXPECT_THAT(OnlyWrongOfText("data: [a/part.txt], split: all"),
              HasSubstr("compare.tune.evaluation: reads a/part.txt, as "));
}

TEST(TuneTest, TheRateIsSaidOnce) {
  EXPECT_THAT(
      OnlyWrong(Compare("  arms: [{name: rope}, {name: tape, set: {encoding: "
                        "{name: tape}, training.learning_rate: 1e-3}}]\n"
                        "  tune: {" +
                        std::string(kTune) + kEvaluation + "}")),
      HasSubstr("compare.arms[1].set.training.learning_rate: is what "
                "compare.tune says; leave it out"));
}

}  // namespace
}  // namespace ordo::services::spec
