#include "model/training/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ordo::model::training {
namespace {

constexpr double kPi = 3.14159265358979323846;

int64_t StepsOf(double fraction, int64_t steps) {
  return std::llround(fraction * static_cast<double>(steps));
}

// How far down step `step` is, in [0, 1), when the way down takes the last
// `num_down` of `steps`; 0 before it.
double WayDown(int64_t step, int64_t num_down, int64_t steps) {
  const int64_t done = step - (steps - num_down);
  if (done <= 0) return 0;
  return static_cast<double>(done) / static_cast<double>(num_down);
}

}  // namespace

double LearningRate(const ordo::training::v1::Training& training,
                    int64_t step) {
  const int64_t steps = training.steps();
  ORDO_CHECK(step >= 0 && step < steps) << "step " << step << " of " << steps;
  const double peak = training.learning_rate();
  const double final_fraction = training.final_fraction();
  const int64_t warmup = StepsOf(training.warmup_fraction(), steps);
  if (step < warmup) {
    return peak * static_cast<double>(step + 1) / static_cast<double>(warmup);
  }
  if (training.schedule() == "constant") return peak;
  if (training.schedule() == "trapezoid") {
    const int64_t cooldown =
        std::min(StepsOf(training.cooldown_fraction(), steps), steps - warmup);
    const double x = WayDown(step, cooldown, steps);
    return peak * (1 - (1 - final_fraction) * x);
  }
  const double x = WayDown(step, steps - warmup, steps);
  if (training.schedule() == "linear") {
    return peak * (1 - (1 - final_fraction) * x);
  }
  ORDO_CHECK(training.schedule() == "cosine") << training.schedule();
  return peak *
         (final_fraction + (1 - final_fraction) * (1 + std::cos(kPi * x)) / 2);
}

}  // namespace ordo::model::training
