#include "model/evaluation/evaluate.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/evaluation/decode.h"
#include "model/guard.h"

namespace ordo::model::evaluation {
namespace {

// Numbers of the questions in batches of one prompt length, shortest first.
std::vector<std::vector<int64_t>> MakeBatches(const tasks::EvaluationTask& task,
                                              int batch_rows) {
  std::vector<int64_t> order(task.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return task.PromptLength(a) < task.PromptLength(b);
  });
  std::vector<std::vector<int64_t>> batches;
  for (const int64_t index : order) {
    if (batches.empty() ||
        static_cast<int>(batches.back().size()) == batch_rows ||
        task.PromptLength(batches.back().front()) != task.PromptLength(index)) {
      batches.emplace_back();
    }
    batches.back().push_back(index);
  }
  return batches;
}

absl::Status Stopped() {
  return absl::CancelledError("the evaluation was stopped on request");
}

// Answers one batch and notes which rows are right.
absl::Status Answer(const transformer::Transformer& model,
                    const std::vector<tasks::Question>& questions,
                    const EvaluateOptions& options,
                    std::vector<uint8_t>* right) {
  Rows prompts;
  DecodeOptions decode;
  decode.precision = options.precision;
  bool stopped = false;
  decode.should_stop = [&] { return stopped = options.should_stop(); };
  for (const tasks::Question& question : questions) {
    prompts.push_back(question.prompt);
    decode.num_tokens =
        std::max(decode.num_tokens, static_cast<int>(question.answer.size()));
  }
  ORDO_ASSIGN_OR_RETURN(Rows produced, Guard("decode answers", [&] {
                          return GreedyDecode(model, prompts, decode);
                        }));
  if (stopped) return Stopped();
  right->clear();
  for (size_t row = 0; row < questions.size(); ++row) {
    const std::vector<int64_t>& answer = questions[row].answer;
    // A row has as many tokens as its own answer; the batch may have decoded
    // more for another's.
    if (produced[row].size() > answer.size()) {
      produced[row].resize(answer.size());
    }
    right->push_back(tasks::IsExactMatch(produced[row], answer));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<tasks::Scores> Evaluate(const transformer::Transformer& model,
                                       const tasks::EvaluationTask& task,
                                       const EvaluateOptions& options) {
  if (model.model().vocabulary_size() < task.tokenizer().vocabulary_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the model has ", model.model().vocabulary_size(),
        " tokens, the evaluation needs ", task.tokenizer().vocabulary_size()));
  }
  std::vector<uint8_t> right(task.size(), 0);
  int64_t num_done = 0;
  options.on_progress(num_done, task.size());
  for (const auto& batch : MakeBatches(task, options.batch_rows)) {
    std::vector<tasks::Question> questions;
    for (const int64_t index : batch) {
      questions.push_back(task.Generate(options.seed, index));
    }
    std::vector<uint8_t> batch_right;
    ORDO_RETURN_IF_ERROR(Answer(model, questions, options, &batch_right));
    for (size_t row = 0; row < batch.size(); ++row) {
      right[batch[row]] = batch_right[row];
    }
    num_done += static_cast<int64_t>(batch.size());
    options.on_progress(num_done, task.size());
  }
  return task.Score(right);
}

}  // namespace ordo::model::evaluation
