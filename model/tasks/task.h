#ifndef ORDO_MODEL_TASKS_TASK_H_
#define ORDO_MODEL_TASKS_TASK_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/tasks/inside.h"
#include "nlohmann/json.hpp"

// What models are trained and scored on. Tasks have no state and draw from
// counter-based streams only, so item k of a seed is the same on every machine,
// whatever was asked for before. No LibTorch here.

namespace ordo::model::tasks {

// A row of training data. The lists are of one length, from 2 to
// TrainingTask::row_length(); whoever makes batches pads on the right.
struct Sample {
  // The model reads all but the last.
  std::vector<int64_t> tokens;
  // Whether what it says at each place, from the tokens before, counts in the
  // loss.
  std::vector<uint8_t> scored;
  // What it should say there; empty: the tokens themselves. Tasks whose answers
  // are read where they are asked for, rather than in the next token, differ.
  std::vector<int64_t> targets = {};
  // The places at which texts begin that see nothing of those before them,
  // rising, from 0 on; empty: a row is one text.
  std::vector<int> starts = {};
};

// Token ids that tasks share, but for those whose tokenizer has no marks.
inline constexpr int64_t kPad = 0;
inline constexpr int64_t kUnknown = 1;
inline constexpr int64_t kBegin = 2;
inline constexpr int64_t kEnd = 3;

// Text as tokens and back.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual int vocabulary_size() const = 0;
  // Whether the ids above are what they are called. Otherwise they are words
  // like others: no row begins or ends with one.
  virtual bool has_marks() const { return true; }
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
  // Tokens of the longest row.
  virtual int row_length() const = 0;
  // Row `index` of the stream of `seed`: a pure function of both. Tasks that
  // make their rows up never fail; errors of others are those of reading.
  virtual absl::StatusOr<Sample> Generate(uint64_t seed,
                                          uint64_t index) const = 0;
  // SHA-256, 64 lower-case hexadecimal digits, over all that rows are read
  // from: with the task's parameters it decides them. Empty of tasks that read
  // nothing.
  virtual std::string data_fingerprint() const { return ""; }
};

// What is put before a model, and the only right answer.
struct Question {
  std::vector<int64_t> prompt;
  // Without places: what continues the prompt, decoded token by token, and ends
  // in kEnd; it is right only if all of it is produced. With places: a token
  // for each.
  std::vector<int64_t> answer;
  // Rising indices into the prompt: answer[i] is what the model says once it
  // has read the prompt up to places[i]. All are read in one pass, in which the
  // prompt holds what is right (teacher forcing). The questions of a task all
  // have places, or none has.
  std::vector<int> places = {};
  // Without places: texts that are each looked for in what is decoded, in the
  // place of comparing all of it with `answer`, which is one that has them. As
  // many tokens are decoded as AnswerLength says, up to kEnd.
  std::vector<std::string> references = {};
};

// Puts the answer behind the prompt, where each of its tokens is read in the
// place before it, and pads to `length` tokens: makes a question that is
// decoded one that is read. The last token is only said. REQUIRES: no places
// yet, at least one token each of prompt and answer, and `length` that holds
// all but the last.
void ReadAtPlaces(int length, Question* question);
// What is taken of an answer.
enum class Measure {
  // Whether the model gives it.
  kRight,
  // How likely the model finds it; all questions have places.
  kLikelihood,
  // What the model says, as text: questions have neither places nor answers,
  // and AnswerLength() tokens are decoded, up to end_token().
  kText,
  // What goes on inside of the model while it reads a prompt, as inside() asks:
  // questions have neither places nor answers, and are put one by one.
  kInside,
};

// Whether each token of an answer that is read at places is right; of one that
// is decoded, a single mark for all of it, or one for each reference.
using Marks = std::vector<uint8_t>;

// The marks of a whole evaluation, by index of the question.
struct Marked {
  // Of the questions.
  uint64_t seed = 1;
  // Of Measure::kRight.
  std::vector<Marks> answers;
  // Of Measure::kLikelihood: -ln p of each answer, summed over its tokens.
  std::vector<double> nats = {};
  // Of Measure::kText, without the end mark.
  std::vector<std::string> texts = {};
  // Of Measure::kInside.
  std::vector<Inside> inside = {};
};

// What became of an item of a task whose items are not its questions, or are
// not scored by marks.
struct ScoredItem {
  // As EvaluationTask::ItemId and UnitId.
  std::string id;
  std::string unit;
  // From 0 to 1.
  double score = 0;
  // What the model said.
  std::string output;
};

// How many a mean is over: units that were drawn, two or more, and their items.
struct Sampled {
  int64_t units = 0;
  int64_t items = 0;
};

// Scores of an evaluation, ready to be written.
struct Scores {
  // By name, e.g. grid_mean; fractions of 1 unless the name says otherwise.
  std::map<std::string, double> metrics;
  // Of metrics that are means over what was drawn, by their names: how far
  // another draw of as many units may move them. None of a metric that too few
  // units say too little of.
  std::map<std::string, double> standard_errors = {};
  // Of those of them that are means of what is worth 0 to 1.
  std::map<std::string, Sampled> sampled = {};
  // Further entries of result.json.
  nlohmann::ordered_json details;
  // The same as a table for people and for spreadsheets.
  std::string csv;
  std::string markdown;
  // Further files of the report, by name: what is much, or is drawn.
  std::map<std::string, std::string> files = {};
  // The items that results are compared by, in the place of one for each
  // question. Empty: there is one for each question.
  std::vector<ScoredItem> items = {};
};

// A finite set of questions with their scoring. Immutable, thread-safe.
class EvaluationTask {
 public:
  virtual ~EvaluationTask() = default;

  virtual const Tokenizer& tokenizer() const = 0;
  virtual int64_t size() const = 0;
  virtual Measure measure() const { return Measure::kRight; }
  // Of Measure::kInside, or null. The task's own.
  virtual const InsideQuery* inside() const { return nullptr; }
  // Question `index` of `seed`, 0 <= index < size(): a pure function of both.
  // Its prompt's length is PromptLength(index), so that questions can be
  // batched before they are made; of Measure::kInside that may be more. Errors
  // as TrainingTask::Generate.
  virtual absl::StatusOr<Question> Generate(uint64_t seed,
                                            int64_t index) const = 0;
  virtual int PromptLength(int64_t index) const = 0;
  // Tokens of the longest answer that question `index` has under any seed, the
  // end mark included: as many are decoded, whatever else is asked. 0 of tasks
  // whose answers are read at places.
  virtual int AnswerLength(int64_t /*index*/) const { return 0; }
  // Of how many of the likeliest tokens each of a decoded answer is drawn, 0:
  // of all; with the evaluation's seed. 1: the likeliest is taken.
  virtual int64_t drawn_from() const { return 1; }
  // The token that ends a decoded answer; nothing: none does.
  virtual std::optional<int64_t> end_token() const { return kEnd; }
  // What question `index` of `seed` is called where results are compared item
  // by item: one name of its own, the same whatever else is asked and whoever
  // answers. "<seed>-<index>" of questions that are made from a seed.
  virtual std::string ItemId(uint64_t seed, int64_t index) const;
  // What the question is drawn with, such as its document: questions of one
  // unit may depend on each other, units do not. By default it stands alone:
  // its id.
  virtual std::string UnitId(uint64_t seed, int64_t index) const;
  // What an answer with these marks is worth, from 0 to 1, where results are
  // compared item by item. What the task's headline metric counts: by default 1
  // if all of it is right, else 0; ShareRight of tasks that count places.
  virtual double ItemScore(const Marks& marks) const;
  // SHA-256 as TrainingTask::data_fingerprint.
  virtual std::string data_fingerprint() const { return ""; }
  // There are size() answers, as measure() says.
  virtual Scores Score(const Marked& marked) const = 0;
};

// Whether all tokens of an answer are right.
bool IsRight(const Marks& marks);

// The share of its tokens that are; 1 where there are none.
double ShareRight(const Marks& marks);

// Whether each of the references stands somewhere in `text`, in capitals or
// not, as RULER's evaluation looks for them in Python: a mark for each.
Marks MarkReferences(std::string_view text,
                     const std::vector<std::string>& references);

// Whether `produced`, cut after its first kEnd and padded, is the answer.
bool IsExactMatch(const std::vector<int64_t>& produced,
                  const std::vector<int64_t>& answer);

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_TASK_H_
