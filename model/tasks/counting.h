#ifndef ORDO_MODEL_TASKS_COUNTING_H_
#define ORDO_MODEL_TASKS_COUNTING_H_

#include <cstdint>
#include <memory>

#include "model/tasks/task.h"

// Counting how often a variable was raised since it was last set, through
// operations that do nothing (Golovneva et al., "Contextual Position Encoding",
// 2024), by the rules of the authors' generator: a row is operations such as
// `a = 0 ; a ++; pass;`, the question `print a` and its answer, 1 in this case.
// A kind of operation is drawn with weights 1 (set), 7 (raise) and `pass`; what
// is set is any variable, what is raised one that has been set. A draw that
// would raise a variable when none is set, or beyond 10, is redone. The
// question is for a variable that has been set; where there is none the row is
// redone.

namespace ordo::model::tasks {

struct CountingOptions {
  // Names that there are: the first letters.
  int variables = 1;
  // Operations are uniform in 3..max_operations.
  int max_operations = 512;
  // Weight of doing nothing.
  int pass = 50;
  // Rows that would be longer lose their left end, as the authors' do. What
  // answers the question may be in it. Of so few operations that none is as
  // long, the longest possible row takes its place.
  int max_tokens = 512;
};

struct CountingTrainingOptions {
  CountingOptions programs;
  // Rows that the stream goes through, over and over, each time in another
  // order; 0: every row is another.
  uint64_t rows = 10000;
};

// Only the answer counts in the loss. Tokens: 0 pads, 1 is the authors' start,
// which no row has; then the words. Neither begins or ends a row.
std::unique_ptr<TrainingTask> MakeCounting(
    const CountingTrainingOptions& options);

struct CountingAnswersOptions {
  CountingOptions programs;
  int samples = 1000;
};

// Metrics, fractions of 1: `error`, answers that are not the likeliest token,
// and `unanswerable`, questions whose variable was last set in the part that is
// cut off. The table has errors by the right answer.
std::unique_ptr<EvaluationTask> MakeCountingAnswers(
    const CountingAnswersOptions& options);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_COUNTING_H_
