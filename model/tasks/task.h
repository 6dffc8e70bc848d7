#ifndef ORDO_MODEL_TASKS_TASK_H_
#define ORDO_MODEL_TASKS_TASK_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

// What models are trained and scored on. Tasks have no state and draw from
// counter-based streams only, so item k of a seed is the same on every machine,
// whatever was asked for before. No LibTorch here.

namespace ordo::model::tasks {

// A row of training data: tokens, and whether each one counts in the loss when
// the model predicts it. Both have TrainingTask::row_length() entries.
struct Sample {
  std::vector<int64_t> tokens;
  std::vector<uint8_t> scored;
};

// Token ids that every task shares.
inline constexpr int64_t kPad = 0;
inline constexpr int64_t kUnknown = 1;
inline constexpr int64_t kBegin = 2;
inline constexpr int64_t kEnd = 3;

// Text as tokens and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int vocabulary_size() const = 0;
  // INVALID_ARGUMENT for text that the task has no tokens for.
  virtual absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const = 0;
  // Padding gives nothing; ids outside the vocabulary give "?".
  virtual std::string Decode(const std::vector<int64_t>& tokens) const = 0;
};

// An endless source of training rows. Immutable, thread-safe.
class TrainingTask {
 public:
  virtual ~TrainingTask() = default;

  virtual const Tokenizer& tokenizer() const = 0;
  // Tokens per row; shorter samples are padded at the right to it.
  virtual int row_length() const = 0;
  // Row `index` of the stream of `seed`: a pure function of both.
  virtual Sample Generate(uint64_t seed, uint64_t index) const = 0;
};

// What is put before a model, and the only right continuation.
struct Question {
  std::vector<int64_t> prompt;
  // Ends in kEnd. A row is right only if all of it is produced.
  std::vector<int64_t> answer;
};

// Scores of an evaluation, ready to be written.
struct Scores {
  // By name, e.g. grid_mean; fractions of 1 unless the name says otherwise.
  std::map<std::string, double> metrics;
  // Further entries of result.json.
  nlohmann::ordered_json details;
  // The same as a table for people and for spreadsheets.
  std::string csv;
  std::string markdown;
};

// A finite set of questions that are answered by greedy decoding. Immutable,
// thread-safe.
class EvaluationTask {
 public:
  virtual ~EvaluationTask() = default;

  virtual const Tokenizer& tokenizer() const = 0;
  virtual int64_t size() const = 0;
  // Question `index` of `seed`, 0 <= index < size(): a pure function of both.
  // Its prompt's length is PromptLength(index), so that questions can be
  // batched before they are made.
  virtual Question Generate(uint64_t seed, int64_t index) const = 0;
  virtual int PromptLength(int64_t index) const = 0;
  // `right[index]` says whether the question was answered exactly.
  virtual Scores Score(const std::vector<uint8_t>& right) const = 0;
};

// Whether `produced`, cut after its first kEnd and padded, is the answer.
bool IsExactMatch(const std::vector<int64_t>& produced,
                  const std::vector<int64_t>& answer);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_TASK_H_
