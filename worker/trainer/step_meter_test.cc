#include "worker/trainer/step_meter.h"

#include <vector>

#include "base/clock/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using ::ordo::model::training::Cursors;
using ::testing::ElementsAre;

class StepMeterTest : public ::testing::Test {
 protected:
  StepMeterTest() {
    training_.set_steps(25);
    training_.set_log_every_steps(10);
  }

  // Runs the steps up to 25, each of which takes `duration` and 100 tokens.
  std::vector<ordo::training::v1::StepDone> RunAll(absl::Duration duration) {
    StepMeter meter(clock_, training_);
    Cursors cursors;
    meter.Start(cursors);
    std::vector<ordo::training::v1::StepDone> all;
    while (cursors.step < 25) {
      clock_.Advance(duration);
      ++cursors.step;
      cursors.tokens += 100;
      if (auto done = meter.Record({}, cursors)) all.push_back(*done);
    }
    return all;
  }

  std::vector<int64_t> StepsReported(absl::Duration duration) {
    std::vector<int64_t> steps;
    for (const auto& done : RunAll(duration)) steps.push_back(done.step());
    return steps;
  }

  base::testing::FakeClock clock_;
  ordo::training::v1::Training training_;
};

TEST_F(StepMeterTest, ReportsTheFirstTheTenthsAndTheLast) {
  EXPECT_THAT(StepsReported(absl::Milliseconds(1)), ElementsAre(1, 10, 20, 25));
}

TEST_F(StepMeterTest, ReportsSlowStepsMoreOften) {
  EXPECT_THAT(StepsReported(absl::Milliseconds(500)),
              ElementsAre(1, 5, 9, 10, 14, 18, 20, 24, 25));
}

TEST_F(StepMeterTest, MeasuresSinceTheLastReport) {
  const auto done = RunAll(absl::Milliseconds(20))[1];
  EXPECT_DOUBLE_EQ(done.tokens_per_second(), 5000);
  EXPECT_DOUBLE_EQ(done.step_seconds(), 0.02);
  EXPECT_EQ(done.total_steps(), 25);
  EXPECT_EQ(done.tokens(), 1000);
}

TEST_F(StepMeterTest, TheMeanLeavesOutTheFirstStepAndWhatIsBetweenSteps) {
  StepMeter meter(clock_, training_);
  Cursors cursors;
  meter.Start(cursors);
  EXPECT_EQ(meter.MeanStepSeconds(), 0);
  const auto step = [&](absl::Duration duration) {
    clock_.Advance(duration);
    ++cursors.step;
    meter.Record({}, cursors);
  };
  step(absl::Seconds(9));
  EXPECT_EQ(meter.MeanStepSeconds(), 0);
  for (int i = 0; i < 9; ++i) step(absl::Milliseconds(20));
  EXPECT_DOUBLE_EQ(meter.MeanStepSeconds(), 0.02);
  clock_.Advance(absl::Hours(1));
  meter.Start(cursors);
  for (int i = 0; i < 10; ++i) step(absl::Milliseconds(40));
  EXPECT_NEAR(meter.MeanStepSeconds(), (9 * 0.02 + 10 * 0.04) / 19, 1e-9);
}

TEST_F(StepMeterTest, LeavesOutWhatPassedBeforeStart) {
  StepMeter meter(clock_, training_);
  meter.Start({});
  clock_.Advance(absl::Hours(1));
  Cursors cursors;
  cursors.step = 9;
  meter.Start(cursors);
  clock_.Advance(absl::Milliseconds(20));
  ++cursors.step;
  EXPECT_DOUBLE_EQ(meter.Record({}, cursors)->step_seconds(), 0.02);
}

}  // namespace
}  // namespace ordo::worker::trainer
