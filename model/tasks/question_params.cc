#include "model/tasks/question_params.h"

#include <string>

#include "base/status/details.h"
#include "model/text/questions/questions.h"
#include "model/text/task/questions_task.h"
#include "model/text/task/scrolls_task.h"

namespace ordo::model::tasks {
namespace {

// Where the parameters stand, for messages.
constexpr char kField[] = "params";
constexpr char kTrainingField[] = "data.params";

}  // namespace

absl::StatusOr<std::unique_ptr<EvaluationTask>> QuestionsOf(
    const catalog::Params& params,
    const ordo::training::v1::Data* /*trained_on*/, const DataAccess& access) {
  text::task::QuestionsOptions options;
  options.field = kField;
  options.path = params.String("path");
  options.format = params.String("format");
  options.few_shot = static_cast<int>(params.Integer("few_shot"));
  options.examples = params.String("examples");
  options.metric = text::questions::MetricOf(params.String("metric"));
  options.tokenizer = params.String("tokenizer");
  // What a training says has been filled in.
  options.begin = params.String("begin") != "never";
  options.max_tokens = params.Integer("max_tokens");
  options.answer_tokens = params.Integer("answer_tokens");
  options.top_k = params.Integer("top_k");
  options.max_questions = params.Integer("max_questions");
  if (options.tokenizer.empty()) {
    return base::InvalidField(
        options.field + ".tokenizer",
        "is needed: the model was not trained here on text that says it");
  }
  return text::task::OpenQuestions(access, options);
}

absl::StatusOr<std::unique_ptr<TrainingTask>> ScrollsOf(
    const catalog::Params& params, const DataAccess& access) {
  text::task::ScrollsOptions options;
  options.field = kTrainingField;
  options.path = params.String("path");
  options.set = params.String("set");
  options.tokenizer = params.String("tokenizer");
  options.begin = params.String("begin") == "always";
  options.answer_begin = params.String("answer_begin") == "always";
  options.max_tokens = params.Integer("max_tokens");
  options.answer_tokens = params.Integer("answer_tokens");
  return text::task::OpenScrolls(access, options);
}

}  // namespace ordo::model::tasks
