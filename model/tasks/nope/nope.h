#ifndef ORDO_MODEL_TASKS_NOPE_NOPE_H_
#define ORDO_MODEL_TASKS_NOPE_NOPE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "model/tasks/task.h"

// The tasks of model/tasks/nope/items.h, and that of pcfg.h, as rows: prompt,
// answer and end mark, each word a token.

namespace ordo::model::tasks::nope {

struct NopeOptions {
  // Name of one of Kinds(), or "pcfg".
  std::string task;
  // 2 <= min_length <= max_length <= kMaxLength; of pcfg from 1 to
  // kMaxFunctions.
  int min_length = 4;
  int max_length = 8;
  // Rows that the stream goes through, over and over, each time in another
  // order; 0: every row is another.
  uint64_t rows = 0;
};

// The answer and the end mark count in the loss. Lengths are uniform, but for
// those of `addition`, where the pairs of lengths are.
std::unique_ptr<TrainingTask> MakeNope(const NopeOptions& options);

struct NopeLengthsOptions {
  std::string task;
  int min_length = 4;
  int max_length = 16;
  // Rows of each length.
  int samples = 100;
  // The greatest length that the model was trained on, 0 when not known.
  int trained_length = 0;
};

// Exact match of greedy answers by length, with the metrics of ScoresByLength.
// Answers are read in one pass: decoding them goes wrong at the first token
// that is not the likeliest after the right ones.
std::unique_ptr<EvaluationTask> MakeNopeLengths(
    const NopeLengthsOptions& options);

}  // namespace ordo::model::tasks::nope

#endif  // ORDO_MODEL_TASKS_NOPE_NOPE_H_
