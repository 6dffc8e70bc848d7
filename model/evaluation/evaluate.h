#ifndef ORDO_MODEL_EVALUATION_EVALUATE_H_
#define ORDO_MODEL_EVALUATION_EVALUATE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/catalog/micro_batch.h"
#include "model/evaluation/answer_log.h"
#include "model/evaluation/items.h"
#include "model/tasks/task.h"
#include "model/transformer/transformer.h"

namespace ordo::model::evaluation {

struct EvaluateOptions {
  // Of the questions.
  uint64_t seed = 1;
  // Of each pass: that of the task's version (catalog::EvaluationTraits).
  catalog::MicroBatchShape micro_batch;
  // "fp32" or "bf16"; a question of the model's inside says its own.
  std::string precision = "fp32";
  // As ForwardOptions::kernel. The inside is looked at without one.
  std::string kernel = {};
  // Knows passes that an interrupted try has answered, and takes those that are
  // answered; of the inside none. Not owned; null: nothing is kept.
  AnswerLog* log = nullptr;
  // Asked before each token that is decoded, and before each pass that reads
  // answers at places; true ends the evaluation.
  std::function<bool()> should_stop = [] { return false; };
  // Told before the first batch and after each.
  std::function<void(int64_t num_done, int64_t num_total)> on_progress =
      [](int64_t, int64_t) {};
};

// INVALID_ARGUMENT when the model has fewer tokens than the task's tokenizer:
// what Evaluate refuses, known before a model is trained.
absl::Status CheckVocabulary(const transformer::Transformer& model,
                             const tasks::EvaluationTask& task);

// Puts all questions of the task to the model, in passes of equally long
// prompts, marks its greedy answers, or measures what the task asks for, and
// scores them, all and one by one. A pass
// that has fewer questions than rows is filled up with copies of one: its shape
// does not depend on how many there are. Questions of the model's inside go
// through it one by one. CANCELLED when should_stop said so;
// INVALID_ARGUMENT of CheckVocabulary; errors of what the task reads.
absl::StatusOr<Outcome> Evaluate(const transformer::Transformer& model,
                                 const tasks::EvaluationTask& task,
                                 const EvaluateOptions& options);

}  // namespace ordo::model::evaluation

#endif  // ORDO_MODEL_EVALUATION_EVALUATE_H_
