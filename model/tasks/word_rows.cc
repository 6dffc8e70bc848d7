#include "model/tasks/word_rows.h"

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ordo::model::tasks {
namespace {

std::vector<int64_t> Encode(const WordTokenizer& tokenizer,
                            std::string_view text) {
  auto tokens = tokenizer.Encode(text);
  ORDO_CHECK(tokens.ok()) << std::string(text);
  return *std::move(tokens);
}

std::vector<int64_t> WithEnd(std::vector<int64_t> tokens) {
  tokens.push_back(kEnd);
  return tokens;
}

}  // namespace

Sample SampleOfWords(const WordTokenizer& tokenizer, std::string_view prompt,
                     std::string_view answer) {
  Sample sample;
  sample.tokens = Encode(tokenizer, prompt);
  sample.scored.assign(sample.tokens.size(), 0);
  for (const int64_t token : WithEnd(Encode(tokenizer, answer))) {
    sample.tokens.push_back(token);
  }
  sample.scored.resize(sample.tokens.size(), 1);
  return sample;
}

Question QuestionOfWords(const WordTokenizer& tokenizer,
                         std::string_view prompt, std::string_view answer,
                         int length) {
  Question question = {Encode(tokenizer, prompt),
                       WithEnd(Encode(tokenizer, answer))};
  ReadAtPlaces(length, &question);
  return question;
}

}  // namespace ordo::model::tasks
