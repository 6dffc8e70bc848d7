#ifndef ORDO_MODEL_TEXT_TASK_SCROLLS_TASK_H_
#define ORDO_MODEL_TEXT_TASK_SCROLLS_TASK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "model/tasks/data_access.h"
#include "model/tasks/task.h"

namespace ordo::model::text::task {

struct ScrollsOptions {
  // Path of the parameters, for messages: "data.params".
  std::string field;
  // As LocateFile takes it.
  std::string path;
  // One of questions::ScrollsSets().
  std::string set = "qasper";
  // As OpenTokenizer takes it.
  std::string tokenizer = "bytes";
  // Whether the tokenizer's mark of a beginning, where it has one, stands
  // before each prompt, and before each answer.
  bool begin = true;
  bool answer_begin = true;
  // Of a row, at least 2.
  int64_t max_tokens = 8192;
  // Of an answer without the mark of its end; 0: as the set says.
  int64_t answer_tokens = 0;
};

// All rows have no more than this many tokens: 2 GiB of them.
inline constexpr int64_t kMaxScrollsTokens = int64_t{1} << 29;

// Fine-tuning on the answers of a set of SCROLLS (questions/scrolls.h): a row
// is a line of its training file, the prompt and the answer with the
// tokenizer's mark of an end, of which the answer and that mark count in the
// loss. Prompts are those of the evaluation `questions`, cut so that row and
// answer have room. Each epoch has every line once, in an order of its own.
//
// The file is read and tokenized here, all of it, and its tokens stay in
// memory.
//
// INVALID_ARGUMENT, with the field or with file and line: the file is not what
// it should be, lies where nothing may be read, or a prompt or an answer has no
// token. NOT_FOUND, with the layout that is expected: it is not there.
// RESOURCE_EXHAUSTED: there are more than kMaxScrollsTokens. Errors of
// access.keep_going are passed on.
absl::StatusOr<std::unique_ptr<tasks::TrainingTask>> OpenScrolls(
    const tasks::DataAccess& access, const ScrollsOptions& options);

}  // namespace ordo::model::text::task

#endif  // ORDO_MODEL_TEXT_TASK_SCROLLS_TASK_H_
