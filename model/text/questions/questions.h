#ifndef ORDO_MODEL_TEXT_QUESTIONS_QUESTIONS_H_
#define ORDO_MODEL_TEXT_QUESTIONS_QUESTIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

// Questions in words, before a tokenizer: what the files of task_file.h,
// scrolls.h and multiple_choice.h hold, and what scores.h scores.

namespace ordo::model::text::questions {

enum class Metric {
  // Of answers in the model's own words.
  kExactMatch,
  kF1,
  kRouge,
  // Of choices: by log-likelihood, and by that per character.
  kAccuracy,
  kAccuracyPerCharacter,
};

// As in MetricNames.
const char* NameOf(Metric metric);
std::optional<Metric> MetricOf(std::string_view name);
bool IsOfChoices(Metric metric);

struct TextQuestion {
  // Of its own within the set.
  std::string id;
  // What it is drawn with, such as its document: questions of one unit may
  // depend on each other, units do not. Its id where it stands alone.
  std::string unit;
  // Whose mean is told apart, such as its subject; empty: of none.
  std::string group;
  // All that is put before the model, examples with answers included.
  std::string prompt;
  // Right answers in words; at least one, or none of choices.
  std::vector<std::string> references;
  // At least two. Those of a published set are what it has, be they equal or
  // empty; of one's own no two are equal, and none is empty.
  std::vector<std::string> choices;
  size_t right_choice = 0;
};

// What of a long prompt the model reads, and how much it says.
struct AnswerLimits {
  // A prompt of more than head + tail tokens is cut to its first `head` and its
  // last `tail` tokens; 0 of both: it is not cut.
  size_t head_tokens = 0;
  size_t tail_tokens = 0;
  size_t answer_tokens = 200;
};

struct TextQuestions {
  Metric metric = Metric::kExactMatch;
  // SHA-256, 64 lower-case hexadecimal digits, over all that decides questions
  // and scores.
  std::string version;
  std::vector<TextQuestion> items;
  // Of groups that are part of a larger one: its name.
  std::map<std::string, std::string> categories;
  // Between a prompt and each choice.
  std::string delimiter = " ";
  AnswerLimits limits;
  // An answer ends before the first of these.
  std::vector<std::string> stops;
  // Whether each line of answers and references is a sentence, which ROUGE-Lsum
  // goes by: without that there is none.
  bool lines_are_sentences = true;
};

// A set has no more questions.
inline constexpr size_t kMaxQuestions = 1000000;

// The examples with their answers and the question, `separator` between them,
// behind `description`.
struct PromptParts {
  std::string description;
  std::vector<std::string> examples;
  std::string separator = "\n\n";
  std::string question;
};
std::string JoinPrompt(const PromptParts& parts);

// INVALID_ARGUMENT with the field: there are fewer than two choices, one is
// empty, or two are equal.
absl::Status CheckChoices(std::string_view field,
                          const std::vector<std::string>& choices);

// RESOURCE_EXHAUSTED: the file at `path` has more than kMaxQuestions.
absl::Status AddQuestion(const std::string& path, TextQuestion question,
                         TextQuestions* questions);

// `limits`, which cut, for prompts of at most `room` tokens, at least one:
// where they leave more, the head gives way first.
AnswerLimits LimitsWithin(AnswerLimits limits, size_t room);

// The tokens of a prompt that the model reads.
std::vector<int64_t> CutPrompt(const AnswerLimits& limits,
                               std::vector<int64_t> tokens);

// What of an answer counts: what lies before the first of `stops`.
std::string_view CutAtStops(const std::vector<std::string>& stops,
                            std::string_view answer);

}  // namespace ordo::model::text::questions

#endif  // ORDO_MODEL_TEXT_QUESTIONS_QUESTIONS_H_
