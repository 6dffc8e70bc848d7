#ifndef ORDO_MODEL_TASKS_RUOSS_RUOSS_H_
#define ORDO_MODEL_TASKS_RUOSS_RUOSS_H_

#include <memory>
#include <string>

#include "model/tasks/task.h"

// The tasks of model/tasks/ruoss/items.h as rows: an input and, for each output
// it has, an empty symbol at which the model says it. Nothing that is said is
// fed, so a model may see all of a row, as the authors' encoders do. Symbols
// are tokens; there are no marks.

namespace ordo::model::tasks::ruoss {

struct RuossOptions {
  // Name of one of Kinds().
  std::string task;
  // Lengths of inputs are uniform in 1..max_length.
  int max_length = 40;
  // Consecutive rows that have one length, as the authors' batches do.
  int rows_per_length = 128;
};

// All outputs count in the loss.
std::unique_ptr<TrainingTask> MakeRuoss(const RuossOptions& options);

struct RuossLengthsOptions {
  std::string task;
  // Every length from the least to the greatest in steps.
  int min_length = 41;
  int max_length = 100;
  int length_step = 1;
  // Rows of each length.
  int samples = 512;
  // The greatest length that the model was trained on, 0 when not known.
  int trained_length = 0;
};

// Metrics, fractions of 1: `score`, the mean over lengths that the model was
// not trained on (all, when that is not known) of the accuracy of outputs, and
// `trained_mean`, the same over those that it was; each where there are such
// lengths. The table has the accuracy by length.
std::unique_ptr<EvaluationTask> MakeRuossLengths(
    const RuossLengthsOptions& options);

}  // namespace ordo::model::tasks::ruoss

#endif  // ORDO_MODEL_TASKS_RUOSS_RUOSS_H_
