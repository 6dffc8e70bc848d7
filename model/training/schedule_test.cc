#include "model/training/schedule.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::model::training {
namespace {

ordo::training::v1::Training Recipe(const std::string& schedule) {
  ordo::training::v1::Training training;
  training.set_steps(10);
  training.set_learning_rate(2);
  training.set_schedule(schedule);
  training.set_warmup_fraction(0.2);
  training.set_cooldown_fraction(0.4);
  training.set_final_fraction(0);
  return training;
}

void ExpectRates(const ordo::training::v1::Training& training,
                 const std::vector<double>& expected) {
  ASSERT_EQ(static_cast<int64_t>(expected.size()), training.steps());
  for (int64_t step = 0; step < training.steps(); ++step) {
    EXPECT_NEAR(LearningRate(training, step), expected[step], 1e-12) << step;
  }
}

TEST(LearningRate, TrapezoidRisesStaysAndFalls) {
  ExpectRates(Recipe("trapezoid"), {1, 2, 2, 2, 2, 2, 2, 1.5, 1, 0.5});
}

TEST(LearningRate, TrapezoidFallsTowardsTheFinalFraction) {
  auto training = Recipe("trapezoid");
  training.set_final_fraction(0.5);
  ExpectRates(training, {1, 2, 2, 2, 2, 2, 2, 1.75, 1.5, 1.25});
}

TEST(LearningRate, LinearFallsFromTheEndOfTheWarmUp) {
  ExpectRates(Recipe("linear"), {1, 2, 2, 1.75, 1.5, 1.25, 1, 0.75, 0.5, 0.25});
}

TEST(LearningRate, CosineIsHalfWayAtHalfTime) {
  const auto training = Recipe("cosine");
  EXPECT_DOUBLE_EQ(LearningRate(training, 0), 1);
  EXPECT_DOUBLE_EQ(LearningRate(training, 1), 2);
  EXPECT_NEAR(LearningRate(training, 6), 1, 1e-12);
  EXPECT_DOUBLE_EQ(LearningRate(training, 2), 2);
  EXPECT_NEAR(LearningRate(training, 4), 1 + std::sqrt(0.5), 1e-12);
}

TEST(LearningRate, ConstantStaysAfterTheWarmUp) {
  ExpectRates(Recipe("constant"), {1, 2, 2, 2, 2, 2, 2, 2, 2, 2});
}

TEST(LearningRate, WithoutWarmUpStartsAtThePeak) {
  auto training = Recipe("trapezoid");
  training.set_warmup_fraction(0);
  training.set_cooldown_fraction(0);
  ExpectRates(training, std::vector<double>(10, 2));
}

TEST(LearningRate, WarmUpComesFirstWhereBothOverlap) {
  auto training = Recipe("trapezoid");
  training.set_warmup_fraction(0.8);
  training.set_cooldown_fraction(1);
  ExpectRates(training, {0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2, 1});
}

TEST(LearningRate, ASingleStepTakesThePeak) {
  for (const char* schedule : {"trapezoid", "linear", "cosine", "constant"}) {
    auto training = Recipe(schedule);
    training.set_steps(1);
    training.set_warmup_fraction(0);
    EXPECT_DOUBLE_EQ(LearningRate(training, 0), 2) << schedule;
  }
}

}  // namespace
}  // namespace ordo::model::training
