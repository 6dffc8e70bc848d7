#ifndef ORDO_MODEL_EVALUATION_EVALUATE_H_
#define ORDO_MODEL_EVALUATION_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "model/tasks/task.h"
#include "model/transformer/transformer.h"

namespace ordo::model::evaluation {

struct EvaluateOptions {
  // Of the questions.
  uint64_t seed = 1;
  // Rows per batch; more is faster and takes more memory. Part of what the
  // last bits of the logits depend on, hence never taken from the machine.
  int batch_rows = 256;
  // "fp32" or "bf16".
  std::string precision = "fp32";
  // As ForwardOptions::kernel.
  std::string kernel = {};
  // Asked before each token that is decoded, and before each pass that reads
  // answers at places; true ends the evaluation.
  std::function<bool()> should_stop = [] { return false; };
  // Told before the first batch and after each.
  std::function<void(int64_t num_done, int64_t num_total)> on_progress =
      [](int64_t, int64_t) {};
};

// Puts all questions of the task to the model, in batches of equally long
// prompts, marks its greedy answers and scores them. CANCELLED when
// should_stop said so; INVALID_ARGUMENT when the model's vocabulary is smaller
// than the task's.
absl::StatusOr<tasks::Scores> Evaluate(const transformer::Transformer& model,
                                       const tasks::EvaluationTask& task,
                                       const EvaluateOptions& options);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_EVALUATE_H_
