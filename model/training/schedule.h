#ifndef ORDO_MODEL_TRAINING_SCHEDULE_H_
#define ORDO_MODEL_TRAINING_SCHEDULE_H_

#include <cstdint>

#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::training {

// Learning rate of optimizer step `step`, 0 <= step < training.steps(), of a
// resolved recipe. In shares of the peak, with w warm-up and c cool-down steps
// (the fractions of all steps, rounded to whole steps), f the final fraction:
//
//   warm-up    (step + 1) / w for step < w, then
//   constant   1
//   trapezoid  1, and over the last c steps linearly to f
//   linear     linearly to f
//   cosine     f + (1 - f) * (1 + cos(pi * x)) / 2
//
// where the way down, x from 0 to 1, begins with x = 0 and would reach 1 right
// after the last step, so that no step is spent at a rate of zero. If warm-up
// and cool-down overlap, the warm-up comes first.
double LearningRate(const ordo::training::v1::Training& training, int64_t step);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_SCHEDULE_H_
