#ifndef ORDO_MODEL_TEXT_TASK_QUESTION_ROWS_H_
#define ORDO_MODEL_TEXT_TASK_QUESTION_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/text/questions/questions.h"
#include "model/text/tokenizers/tokenizer.h"

// Questions in words as the tokens that a model reads.

namespace ordo::model::text::task {

struct QuestionRowOptions {
  // Path of the parameters, for messages: "params".
  std::string field;
  // Of a prompt and its answer or choice, at least 2.
  int64_t max_tokens = 8192;
  // Whether the tokenizer's mark of a beginning, where it has one, stands
  // before each prompt.
  bool begin = true;
  // Asked before each question; an error ends the work, and is passed on.
  std::function<absl::Status()> keep_going = [] { return absl::OkStatus(); };
};

// What a model reads at once: the prompt of a question in words, or that of a
// choice with the choice behind it.
struct QuestionRow {
  // Among the questions, and among its choices.
  size_t question = 0;
  size_t choice = 0;
  // At least one of them is of the prompt.
  std::vector<int32_t> tokens;
  // The last tokens, those of the choice; 0 of questions in words.
  size_t num_scored = 0;
};

struct QuestionRows {
  // In the order of the questions and of their choices.
  std::vector<QuestionRow> rows;
  // How many of them have a prompt that was cut.
  int64_t num_cut = 0;
};

// All rows have no more than this many tokens.
inline constexpr int64_t kMaxQuestionTokens = int64_t{1} << 28;

// The rows of all questions, which lose their prompts: nobody needs the texts
// any more. A prompt that with its answer, of up to limits.answer_tokens, or
// with its choice has more than options.max_tokens is cut: in its middle where
// the questions' limits say so, otherwise at its beginning, behind the mark.
//
// INVALID_ARGUMENT, with the field or the question: nothing is left of a
// prompt, or a text has no tokens. RESOURCE_EXHAUSTED: there are more than
// kMaxQuestionTokens.
absl::StatusOr<QuestionRows> MakeQuestionRows(
    const tokenizers::TextTokenizer& tokenizer,
    const QuestionRowOptions& options, questions::TextQuestions* questions);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_QUESTION_ROWS_H_
