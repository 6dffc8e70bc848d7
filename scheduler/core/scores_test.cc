#include "scheduler/core/scores.h"

#include <limits>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/core/testing/core_test.h"

namespace ordo::scheduler::core {
namespace {

using testing::AttemptBuilder;
using testing::CoreTest;
using ::testing::Eq;
using testing::JobBuilder;
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

// Step of the best checkpoint of job a, which evaluates `held`, then `more`;
// -1: there is none.
class BestCheckpointTest : public CoreTest {
 protected:
  BestCheckpointTest() {
    StartWorker();
    Submit(JobBuilder("a").EvaluatesItself("held").EvaluatesItself("more"));
  }
  int64_t Best() {
    const CheckpointPtr best = BestCheckpoint(shell_.state().jobs.at("a"));
    return best == nullptr ? -1 : best->step();
  }
};

TEST_F(BestCheckpointTest, IsThatWhichTheFirstEvaluationWithResultsSays) {
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Checkpoint(1, 5)
              .Checkpoint(2, 10)
              .Score(3, "more", 5, 1)
              .Score(4, "more", 10, 0.5));
  EXPECT_EQ(Best(), 5);
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Score(5, "held", 5, 0.25)
              .Score(6, "held", 10, 0.5));
  EXPECT_EQ(Best(), 10);
  // Of equals the later one.
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Checkpoint(7, 20)
              .Score(8, "held", 20, 0.5)
              .Score(9, "held-out", 5, 7));
  EXPECT_EQ(Best(), 20);
  // It knows the same after a restart.
  shell_.Restart();
  EXPECT_EQ(Best(), 20);
}

TEST_F(BestCheckpointTest, OnlyWhatIsThereAndHasAScoreIsOne) {
  Observe(AttemptBuilder("a", 1)
              .Running()
              .Checkpoint(1, 5)
              .Score(2, "held", 10, 0.5)
              .Score(3, "held", 5, kNaN));
  EXPECT_EQ(Best(), -1);
  Observe(AttemptBuilder("a", 1).Running().Checkpoint(4, 10));
  EXPECT_EQ(Best(), 10);
}

}  // namespace
}  // namespace ordo::scheduler::core
