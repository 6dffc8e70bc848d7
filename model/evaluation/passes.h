#ifndef ORDO_MODEL_EVALUATION_PASSES_H_
#define ORDO_MODEL_EVALUATION_PASSES_H_

#include <cstdint>
#include <vector>

#include "model/catalog/micro_batch.h"
#include "model/tasks/task.h"

// Which questions of an evaluation go through a model together. Pure functions,
// thread-safe; no LibTorch here.

namespace ordo::model::evaluation {

// Questions whose prompts are of one length.
struct Pass {
  // By index in the task; 1..num_rows of them.
  std::vector<int64_t> indices;
  // Tokens to decode at most: as many as the longest answer that the task may
  // have to a prompt of this length, since positions may be drawn for the
  // length of a whole row, and what a row gets must not depend on those beside
  // it, nor on how many questions there are. 0: answers are read at places.
  int num_tokens = 0;
  // Of the shape, however many questions there are.
  int64_t num_rows = 1;
};

// All questions of the task, the shortest prompts first, those of one length by
// index.
std::vector<Pass> MakePasses(const tasks::EvaluationTask& task,
                             const catalog::MicroBatchShape& shape);

// The prompts of at least one question, and copies of the first up to
// `num_rows`.
std::vector<std::vector<int64_t>> PromptsOf(
    const std::vector<tasks::Question>& questions, int64_t num_rows);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_PASSES_H_
