#include "services/spec/budget.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "services/spec/expand.h"
#include "services/spec/testing/expand_specs.h"

namespace ordo::services::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kTwoArms;
using testing::NamesOf;
using testing::OnlyWrong;
using testing::Read;

// A comparison whose runs have 400 steps of 12 rows, with a checkpoint every
// 100 steps.
ordo::jobs::v1::JobSpec Compare(const std::string& rest,
                                const std::string& training = "steps: 400") {
  return Read(
      "kind: compare\nname: c\ncompare:\n  run: {encoding: {name: rope}, "
      "data: {task: addition}, training: {batch_size: 12, " +
      training + "}, checkpoint: {every_steps: 100}}\n  seeds: [1]\n" + rest);
}

std::vector<int64_t> StepsOf(const absl::StatusOr<Expansion>& made) {
  ORDO_EXPECT_OK(made);
  std::vector<int64_t> steps;
  if (!made.ok()) return steps;
  for (const Part& part : made->parts) {
    steps.push_back(part.spec.training().steps());
  }
  return steps;
}

constexpr char kBatches[] =
    "  arms: [{name: small}, {name: large, set: {training.batch_size: 24, "
    "training.micro_batch_size: 12}}]\n"
    "  differs: [training.batch_size, training.micro_batch_size]\n";

TEST(BudgetTest, ArmsOfAsManyTokensHaveStepsForAsManyRows) {
  const auto made = Expand(Compare(std::string(kBatches) + "  budget: tokens"));
  EXPECT_THAT(StepsOf(made), ElementsAre(400, 200));
  EXPECT_THAT(made->spec.compare().differs(),
              ElementsAre("training.batch_size", "training.micro_batch_size",
                          "training.steps"));
  EXPECT_THAT(made->parts[1].differs, HasSubstr(", training.steps=200"));
}

TEST(BudgetTest, TheBaselineSaysHowMuch) {
  const auto made = Expand(
      Compare(std::string(kBatches) + "  baseline: large\n  budget: tokens"));
  EXPECT_THAT(StepsOf(made), ElementsAre(800, 400));
}

TEST(BudgetTest, TrialsHaveTheStepsOfTheirArm) {
  const auto made = Expand(Compare(
      std::string(kBatches) +
      "  budget: tokens\n"
      "  tune: {learning_rate: [1e-3, 1e-2], metric: grid_mean, goal: max, "
      "evaluation: {task: addition_grid}}"));
  EXPECT_THAT(StepsOf(made), ElementsAre(400, 400, 200, 200, 400, 200));
}

TEST(BudgetTest, ArmsOfAsManyFlopsHaveFewerStepsThatCostMore) {
  const auto made = Expand(Compare(std::string(kTwoArms) + "  budget: flops"));
  const auto steps = StepsOf(made);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], 400);
  EXPECT_LT(steps[1], 400);
  EXPECT_GT(steps[1], 100);
}

TEST(BudgetTest, OfSecondsEachArmHasItsPaceMeasuredFirst) {
  const auto made =
      Expand(Compare(std::string(kTwoArms) + "  budget: device_seconds"));
  EXPECT_THAT(NamesOf(made), ElementsAre("c-rope-pace", "c-tape-pace",
                                         "c-rope-s1", "c-tape-s1"));
  EXPECT_THAT(StepsOf(made), ElementsAre(20, 20, 400, 400));
  EXPECT_EQ(made->parts[1].spec.encoding().name(), "tape");
  EXPECT_EQ(made->parts[1].spec.training().seed(), 1u);
  // The baseline has what its spec says.
  EXPECT_FALSE(made->parts[2].spec.has_paced_by());
  const auto& run = made->parts[3].spec;
  EXPECT_EQ(run.paced_by().own(), "jobs/c-tape-pace");
  EXPECT_EQ(run.paced_by().baseline(), "jobs/c-rope-pace");
  ASSERT_EQ(run.needs_size(), 2);
  EXPECT_EQ(run.needs(0).job(), "jobs/c-tape-pace");
}

TEST(BudgetTest, ATwentiethOfManyStepsIsMeasuredAndTrialsFollowItToo) {
  const auto made = Expand(Compare(
      std::string(kTwoArms) +
          "  budget: device_seconds\n"
          "  tune: {learning_rate: [1e-3, 1e-2], metric: grid_mean, goal: max, "
          "evaluation: {task: addition_grid}}",
      "steps: 4000"));
  EXPECT_THAT(
      NamesOf(made),
      ElementsAre("c-rope-pace", "c-tape-pace", "c-rope-t0", "c-rope-t1",
                  "c-tape-t0", "c-tape-t1", "c-rope-s1", "c-tape-s1"));
  EXPECT_EQ(made->parts[0].spec.training().steps(), 200);
  EXPECT_FALSE(made->parts[2].spec.has_paced_by());
  EXPECT_EQ(made->parts[5].spec.paced_by().own(), "jobs/c-tape-pace");
  EXPECT_EQ(made->parts[7].spec.tuned_by().trials(1).job(), "jobs/c-tape-t1");
}

TEST(BudgetTest, WhatIsResolvedIsResolvedToItself) {
  const auto made = Expand(Compare(std::string(kTwoArms) + "  budget: flops"));
  ORDO_ASSERT_OK(made);
  EXPECT_EQ(StepsOf(Expand(made->spec)), StepsOf(made));
}

TEST(BudgetTest, WithoutABudgetAllHaveTheStepsOfTheSpec) {
  EXPECT_THAT(StepsOf(Expand(Compare(kTwoArms))), ElementsAre(400, 400));
}

TEST(BudgetTest, WhatCannotBeKeptIsRefused) {
  EXPECT_THAT(OnlyWrong(Compare(std::string(kTwoArms) + "  budget: token")),
              HasSubstr("compare.budget: 'token' is not known; did you mean "
                        "'tokens'?"));
  EXPECT_THAT(OnlyWrong(Compare(std::string(kBatches) + "  budget: tokens",
                                "steps: 401")),
              HasSubstr("compare.budget: the 4812 rows of small are no whole "
                        "number of batches of 24, which the arm large has"));
  EXPECT_THAT(
      OnlyWrong(Compare(std::string(kTwoArms) + "  budget: flops", "steps: 2")),
      HasSubstr("compare.budget: the arm tape comes no nearer than"));
  EXPECT_THAT(
      OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: {encoding: {name: "
                        "tape}, training.steps: 3}}]\n  budget: tokens")),
      HasSubstr("compare.arms[1].set.training.steps: is what compare.budget "
                "says for all arms but the baseline; leave it out"));
  EXPECT_THAT(
      OnlyWrong(Compare("  arms: [{name: a}, {name: b, set: {data.params: "
                        "{max_digits: 3}}}]\n  differs: [data]\n"
                        "  budget: tokens")),
      HasSubstr("compare.arms[1].set.data.params: is other data than that of "
                "a"));
}

TEST(BudgetTest, AllArmsHaveACheckpointToCompareTheOrderOfDataAt) {
  EXPECT_THAT(
      OnlyWrong(Read("kind: compare\nname: c\ncompare:\n  run: {encoding: "
                     "{name: rope}, data: {task: addition}, training: {steps: "
                     "400}, checkpoint: {every_steps: 400}}\n" +
                     std::string(kTwoArms) + "  budget: flops")),
      HasSubstr("compare.run.checkpoint.every_steps: is 400, and with budget: "
                "flops an arm has "));
}

}  // namespace
}  // namespace ordo::services::spec
