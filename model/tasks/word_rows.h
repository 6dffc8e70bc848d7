#ifndef ORDO_MODEL_TASKS_WORD_ROWS_H_
#define ORDO_MODEL_TASKS_WORD_ROWS_H_

#include <string_view>

#include "model/tasks/task.h"
#include "model/tasks/words.h"

// A prompt and its answer, texts of words, as rows: prompt, answer and end
// mark, each word a token. Pure functions; a word that the tokenizer does not
// have is a programmer's error.

namespace ordo::model::tasks {

// The answer and the end mark count.
Sample SampleOfWords(const WordTokenizer& tokenizer, std::string_view prompt,
                     std::string_view answer);

// The answer and the end mark are read in one pass over `length` tokens, which
// hold the prompt and the answer: decoding them goes wrong at the first token
// that is not the likeliest after the right ones.
Question QuestionOfWords(const WordTokenizer& tokenizer,
                         std::string_view prompt, std::string_view answer,
                         int length);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_WORD_ROWS_H_
