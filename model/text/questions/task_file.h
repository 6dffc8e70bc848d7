#ifndef ORDO_MODEL_TEXT_QUESTIONS_TASK_FILE_H_
#define ORDO_MODEL_TEXT_QUESTIONS_TASK_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/text/questions/questions.h"

// An evaluation of one's own is a file of JSON lines. The first line says how
// the others, the items, are asked and scored:
//
//   {"prompt": "Question: {question}\nAnswer:", "target": "{answer}",
//    "metric": "exact_match", "unit": "{page}",
//    "examples": [{"question": "2 + 2?", "answer": "4"}]}
//   {"id": "a1", "question": "3 + 4?", "answer": ["7", "seven"], "page": 12}
//
// (as one line each). Templates name fields of an item in braces; {{ and }} are
// the characters. The fields of the first line:
//
//   prompt       template
//   metric       exact_match, f1 or rouge, with a target; acc or acc_norm, with
//                choices
//   target       template; "{field}" alone may name a list of right answers
//   choices      "{field}" of a list, or a list of templates
//   answer       template, with choices: the text of the right one, or
//   "{field}"
//                of its number, from 0
//   examples     list of items that are asked and answered before each; none
//   few_shot     how many of them, from the first; all
//   description  text before the first example; none
//   delimiter    text between a prompt and its answer or choice; a blank
//   separator    text between examples; two line feeds
//   id           template, an item's own; {id}
//   unit         template: what items that depend on each other share; the id
//   group        template: what means are told apart by; none
//   stop         list of texts before which an answer ends, with a target; none
//   max_answer_tokens  with a target; 200

namespace ordo::model::text::questions {

// The questions of a task file; its version is the SHA-256 over its lines
// (ObjectReader). INVALID_ARGUMENT with file, line and field: what is said
// above is not so, a field is unknown, few_shot is more than there are
// examples, two ids are equal, or there is no item. RESOURCE_EXHAUSTED: there
// are more than kMaxQuestions. Otherwise as ObjectReader.
absl::StatusOr<TextQuestions> ReadTaskFile(base::Filesystem& files,
                                           const std::string& path);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_TASK_FILE_H_
