#include "model/evaluation/evaluate.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/evaluation/decode.h"
#include "model/evaluation/passes.h"
#include "model/guard.h"

namespace ordo::model::evaluation {
namespace {

absl::Status Stopped() {
  return absl::CancelledError("the evaluation was stopped on request");
}

// Decodes the answers of one pass and marks them.
absl::StatusOr<std::vector<tasks::Marks>> MarkDecoded(
    const transformer::Transformer& model, const Pass& pass,
    const std::vector<tasks::Question>& questions,
    const EvaluateOptions& options) {
  const Rows prompts = PromptsOf(questions, pass.num_rows);
  DecodeOptions decode;
  decode.num_tokens = pass.num_tokens;
  decode.precision = options.precision;
  decode.kernel = options.kernel;
  bool stopped = false;
  decode.should_stop = [&] { return stopped = options.should_stop(); };
  ORDO_ASSIGN_OR_RETURN(Rows produced, Guard("decode answers", [&] {
                          return GreedyDecode(model, prompts, decode);
                        }));
  if (stopped) return Stopped();
  std::vector<tasks::Marks> marks;
  for (size_t row = 0; row < questions.size(); ++row) {
    const std::vector<int64_t>& answer = questions[row].answer;
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

// Reads the answers of one pass at their places and marks them.
absl::StatusOr<std::vector<tasks::Marks>> MarkRead(
    const transformer::Transformer& model, const Pass& pass,
    const std::vector<tasks::Question>& questions,
    const EvaluateOptions& options) {
  if (options.should_stop()) return Stopped();
  const Rows prompts = PromptsOf(questions, pass.num_rows);
  std::vector<std::vector<int>> places;
  DecodeOptions decode;
  decode.precision = options.precision;
  decode.kernel = options.kernel;
  for (const tasks::Question& question : questions) {
    places.push_back(question.places);
  }
  places.resize(prompts.size());
  ORDO_ASSIGN_OR_RETURN(const Rows produced, Guard("read answers", [&] {
                          return PredictAt(model, prompts, places, decode);
                        }));
  std::vector<tasks::Marks> marks;
  for (size_t row = 0; row < questions.size(); ++row) {
    const std::vector<int64_t>& answer = questions[row].answer;
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
  for (const Pass& pass : MakePasses(task, options.seed, options.micro_batch)) {
    std::vector<tasks::Question> questions;
    for (const int64_t index : pass.indices) {
      questions.push_back(task.Generate(options.seed, index));
    }
    const bool read = !questions.front().places.empty();
    ORDO_ASSIGN_OR_RETURN(std::vector<tasks::Marks> marks,
                          read ? MarkRead(model, pass, questions, options)
                               : MarkDecoded(model, pass, questions, options));
    for (size_t row = 0; row < marks.size(); ++row) {
      marked.answers[pass.indices[row]] = std::move(marks[row]);
    }
    num_done += static_cast<int64_t>(marks.size());
    options.on_progress(num_done, task.size());
  }
  return task.Score(marked);
}

}  // namespace ordo::model::evaluation
