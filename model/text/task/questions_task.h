#ifndef ORDO_MODEL_TEXT_TASK_QUESTIONS_TASK_H_
#define ORDO_MODEL_TEXT_TASK_QUESTIONS_TASK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"
#include "model/text/questions/questions.h"

namespace ordo::model::text::task {

struct QuestionsOptions {
  // Path of the parameters, for messages: "params".
  std::string field;
  // As LocateData takes it.
  std::string path;
  // One of QuestionFormats().
  std::string format = "own";
  // Of mmlu and arc: examples before each question, and the file that they are
  // taken from, as LocateData takes it.
  int few_shot = 0;
  std::string examples;
  // The headline, in the place of that of the format.
  std::optional<questions::Metric> metric;
  // As OpenTokenizer takes it.
  std::string tokenizer;
  // As QuestionRowOptions.
  bool begin = true;
  int64_t max_tokens = 8192;
  // Of an answer in words; 0: as the format says.
  int64_t answer_tokens = 0;
  // Of answers in words: as EvaluationTask::drawn_from.
  int64_t top_k = 1;
  // Only so many are asked, drawn by their ids: the same ones in whatever order
  // the file has them, and more of them with a larger number. 0: all.
  int64_t max_questions = 0;
};

// "own" (task_file.h), "mmlu", "arc" and the sets of SCROLLS.
std::vector<std::string> QuestionFormats();

// Questions in words that a user brings. Those with choices are answered by the
// log-likelihood of each choice, others by the likeliest tokens, or by drawn
// ones, which the table says. Metrics are those
// of TextScores::means, with those of categories as <metric>_<category>; items
// are the questions, not their choices.
//
// A row with a choice is filled up behind to a multiple of 32 tokens, at most
// max_tokens - 1, so that rows of many lengths have few shapes.
//
// INVALID_ARGUMENT, with the field or with file and line: a file is not what
// its format says, lies where nothing may be read, has too few examples, or the
// metric is not of such questions. NOT_FOUND, with the layout that is expected:
// a file is not there. RESOURCE_EXHAUSTED: there are too many questions or
// tokens. Errors of access.keep_going are passed on.
absl::StatusOr<std::unique_ptr<tasks::EvaluationTask>> OpenQuestions(
    const tasks::DataAccess& access, const QuestionsOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_QUESTIONS_TASK_H_
