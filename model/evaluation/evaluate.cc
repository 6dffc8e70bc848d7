#include "model/evaluation/evaluate.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
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
  // Answers that are read in one pass are not decoded.
  if (task.size() > 0 && !task.Generate(seed, 0).places.empty()) return longest;
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
  // To decode at most, where answers are decoded.
  int num_tokens = 0;
};

// Decodes the answers of one batch and marks them.
absl::StatusOr<std::vector<tasks::Marks>> MarkDecoded(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
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
  std::vector<tasks::Marks> marks;
  for (size_t row = 0; row < batch.questions.size(); ++row) {
    const std::vector<int64_t>& answer = batch.questions[row].answer;
    // A row has as many tokens as its own answer; more may have been decoded
    // for another's.
    if (produced[row].size() > answer.size()) {
      produced[row].resize(answer.size());
    }
    const bool right = tasks::IsExactMatch(produced[row], answer);
    marks.push_back({static_cast<uint8_t>(right)});
  }
  return marks;
}

// Reads the answers of one batch at their places and marks them.
absl::StatusOr<std::vector<tasks::Marks>> MarkRead(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  if (options.should_stop()) return Stopped();
  Rows prompts;
  std::vector<std::vector<int>> places;
  DecodeOptions decode;
  decode.precision = options.precision;
  decode.kernel = options.kernel;
  for (const tasks::Question& question : batch.questions) {
    prompts.push_back(question.prompt);
    places.push_back(question.places);
  }
  ORDO_ASSIGN_OR_RETURN(const Rows produced, Guard("read answers", [&] {
                          return PredictAt(model, prompts, places, decode);
                        }));
  std::vector<tasks::Marks> marks;
  for (size_t row = 0; row < batch.questions.size(); ++row) {
    const std::vector<int64_t>& answer = batch.questions[row].answer;
    tasks::Marks& of_row = marks.emplace_back();
    for (size_t i = 0; i < answer.size(); ++i) {
      of_row.push_back(produced[row][i] == answer[i] ? 1 : 0);
    }
  }
  return marks;
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
  tasks::Marked marked;
  marked.seed = options.seed;
  marked.answers.resize(task.size());
  int64_t num_done = 0;
  options.on_progress(num_done, task.size());
  const std::map<int, int> longest = LongestAnswers(task, options.seed);
  for (const auto& indices : MakeBatches(task, options.batch_rows)) {
    Batch batch;
    for (const int64_t index : indices) {
      batch.questions.push_back(task.Generate(options.seed, index));
    }
    const bool read = !batch.questions.front().places.empty();
    if (!read) batch.num_tokens = longest.at(task.PromptLength(indices[0]));
    ORDO_ASSIGN_OR_RETURN(std::vector<tasks::Marks> marks,
                          read ? MarkRead(model, batch, options)
                               : MarkDecoded(model, batch, options));
    for (size_t row = 0; row < indices.size(); ++row) {
      marked.answers[indices[row]] = std::move(marks[row]);
    }
    num_done += static_cast<int64_t>(indices.size());
    options.on_progress(num_done, task.size());
  }
  return task.Score(marked);
}

}  // namespace ordo::model::evaluation
