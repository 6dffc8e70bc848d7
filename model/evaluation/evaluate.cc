#include "model/evaluation/evaluate.h"

#include <algorithm>
#include <map>
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

// Tokens of the longest answer, by length of the prompt. Decoding prepares for
// that many in every batch, since positions may be drawn for the length of the
// whole row, and what a row gets must not depend on those beside it.
std::map<int, int> LongestAnswers(const tasks::EvaluationTask& task,
                                  uint64_t seed) {
  std::map<int, int> longest;
  for (int64_t index = 0; index < task.size(); ++index) {
    int& tokens = longest[task.PromptLength(index)];
    tokens = std::max(
        tokens, static_cast<int>(task.Generate(seed, index).answer.size()));
  }
  return longest;
}

absl::Status Stopped() {
  return absl::CancelledError("the evaluation was stopped on request");
}

struct Batch {
  std::vector<tasks::Question> questions;
  // To decode at most.
  int num_tokens = 0;
};

// Answers one batch and notes which rows are right.
absl::Status Answer(const transformer::Transformer& model, const Batch& batch,
                    const EvaluateOptions& options,
                    std::vector<uint8_t>* right) {
  Rows prompts;
  DecodeOptions decode;
  decode.num_tokens = batch.num_tokens;
  decode.precision = options.precision;
  decode.kernel = options.kernel;
  bool stopped = false;
  decode.should_stop = [&] { return stopped = options.should_stop(); };
  for (const tasks::Question& question : batch.questions) {
    prompts.push_back(question.prompt);
  }
  ORDO_ASSIGN_OR_RETURN(Rows produced, Guard("decode answers", [&] {
                          return GreedyDecode(model, prompts, decode);
                        }));
  if (stopped) return Stopped();
  right->clear();
  for (size_t row = 0; row < batch.questions.size(); ++row) {
    const std::vector<int64_t>& answer = batch.questions[row].answer;
    // A row has as many tokens as its own answer; more may have been decoded
    // for another's.
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
  const std::map<int, int> longest = LongestAnswers(task, options.seed);
  for (const auto& indices : MakeBatches(task, options.batch_rows)) {
    Batch batch;
    batch.num_tokens = longest.at(task.PromptLength(indices.front()));
    for (const int64_t index : indices) {
      batch.questions.push_back(task.Generate(options.seed, index));
    }
    std::vector<uint8_t> batch_right;
    ORDO_RETURN_IF_ERROR(Answer(model, batch, options, &batch_right));
    for (size_t row = 0; row < indices.size(); ++row) {
      right[indices[row]] = batch_right[row];
    }
    num_done += static_cast<int64_t>(indices.size());
    options.on_progress(num_done, task.size());
  }
  return task.Score(right);
}

}  // namespace ordo::model::evaluation
