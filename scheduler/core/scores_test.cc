#include "scheduler/core/scores.h"

#include <limits>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::scheduler::core {
namespace {

using ::testing::Eq;
using ::testing::Optional;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

const Criterion kScore{"held", "score", true};

void AddReport(const std::string& id, int64_t step, double score,
               JobEntry* entry) {
  auto report = std::make_shared<reports::v1::Report>();
  report->set_name("jobs/a/reports/" + id);
  report->set_step(step);
  (*report->mutable_metrics())["score"] = score;
  entry->reports[id] = report;
}

TEST(ScoresTest, AScoreIsThatOfTheEvaluationAtTheStep) {
  JobEntry entry;
  AddReport("held-10", 10, 0.5, &entry);
  AddReport("other-20", 20, 0.7, &entry);
  EXPECT_THAT(ScoreAt(entry, kScore, 10), Optional(0.5));
  EXPECT_THAT(ScoreAt(entry, kScore, 20), Eq(std::nullopt));
  EXPECT_THAT(ScoreAt(entry, {"held", "loss", true}, 10), Eq(std::nullopt));
}

TEST(ScoresTest, TheNewestStepIsTheLargestOfTheEvaluationItself) {
  JobEntry entry;
  EXPECT_EQ(NewestStep(entry, kScore), 0);
  AddReport("held-9", 9, 0.5, &entry);
  AddReport("held-10", 10, 0.5, &entry);
  AddReport("held-out-30", 30, 0.5, &entry);
  AddReport("held-20-rope-abc", 20, 0.5, &entry);
  EXPECT_EQ(NewestStep(entry, kScore), 10);
}

TEST(ScoresTest, TheNamesOfScoresAreThoseOfTheReport) {
  JobEntry entry;
  EXPECT_EQ(ScoreNames(entry, kScore, 10), "");
  AddReport("held-10", 10, 0.5, &entry);
  EXPECT_EQ(ScoreNames(entry, {"held", "loss", true}, 10), "score");
}

TEST(ScoresTest, WhichIsBetterTheGoalSays) {
  EXPECT_TRUE(IsBetter({"e", "m", true}, 2, 1));
  EXPECT_FALSE(IsBetter({"e", "m", true}, 1, 2));
  EXPECT_FALSE(IsBetter({"e", "m", true}, 1, 1));
  EXPECT_TRUE(IsBetter({"e", "m", false}, 1, 2));
  EXPECT_FALSE(IsBetter({"e", "m", false}, 2, 1));
}

TEST(ScoresTest, WhatIsNotFiniteIsWorseThanAllThatIs) {
  for (const bool maximize : {true, false}) {
    const Criterion by{"e", "m", maximize};
    for (const double wrong : {kNaN, kInfinite, -kInfinite}) {
      EXPECT_TRUE(IsBetter(by, 1, wrong));
      EXPECT_FALSE(IsBetter(by, wrong, 1));
      EXPECT_FALSE(IsBetter(by, wrong, kNaN));
    }
  }
}

}  // namespace
}  // namespace ordo::scheduler::core
