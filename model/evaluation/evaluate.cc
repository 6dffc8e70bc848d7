#include "model/evaluation/evaluate.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/evaluation/decode.h"
#include "model/evaluation/inspect.h"
#include "model/evaluation/passes.h"
#include "model/guard.h"

namespace ordo::model::evaluation {
namespace {

absl::Status Stopped() {
  return absl::CancelledError("the evaluation was stopped on request");
}

// What goes through the model together.
struct Batch {
  const tasks::EvaluationTask& task;
  const Pass& pass;
  // Of the pass's indices.
  const std::vector<tasks::Question>& questions;
  // Of the pass.
  int64_t number = 0;
};

std::vector<std::vector<int>> PlacesOf(
    const std::vector<tasks::Question>& questions, size_t num_rows) {
  std::vector<std::vector<int>> places;
  for (const tasks::Question& question : questions) {
    places.push_back(question.places);
  }
  places.resize(num_rows);
  return places;
}

DecodeOptions ReadOptions(const EvaluateOptions& options) {
  DecodeOptions decode;
  decode.precision = options.precision;
  decode.kernel = options.kernel;
  return decode;
}

// Cuts what was decoded for a row to what counts, as more may have been decoded
// for another's, and marks it, unless it is the text that counts.
tasks::Marks MarkRow(const Batch& batch, size_t row,
                     std::vector<int64_t>* produced) {
  const tasks::Question& question = batch.questions[row];
  const bool is_text = batch.task.measure() == tasks::Measure::kText;
  const size_t most = question.references.empty() && !is_text
                          ? question.answer.size()
                          : static_cast<size_t>(batch.task.AnswerLength(
                                batch.pass.indices[row]));
  if (produced->size() > most) produced->resize(most);
  if (is_text) {
    const bool ended =
        !produced->empty() && batch.task.end_token() == produced->back();
    if (ended) produced->pop_back();
    return {};
  }
  if (question.references.empty()) {
    const bool right = tasks::IsExactMatch(*produced, question.answer);
    return {static_cast<uint8_t>(right)};
  }
  return tasks::MarkReferences(batch.task.tokenizer().Decode(*produced),
                               question.references);
}

// Decodes the answers of one pass and marks them.
absl::StatusOr<std::vector<Answered>> MarkDecoded(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  const Rows prompts = PromptsOf(batch.questions, batch.pass.num_rows);
  DecodeOptions decode = ReadOptions(options);
  decode.num_tokens = batch.pass.num_tokens;
  decode.end = batch.task.end_token();
  decode.top_k = batch.task.drawn_from();
  // An item is answered the same whatever it is asked with.
  for (size_t i = 0; decode.top_k != 1 && i < batch.questions.size(); ++i) {
    const std::string id =
        batch.task.ItemId(options.seed, batch.pass.indices[i]);
    decode.streams.emplace_back(options.seed, absl::StrCat("answer/", id));
  }
  bool stopped = false;
  decode.should_stop = [&] { return stopped = options.should_stop(); };
  ORDO_ASSIGN_OR_RETURN(Rows produced, Guard("decode answers", [&] {
                          return Decode(model, prompts, decode);
                        }));
  if (stopped) return Stopped();
  std::vector<Answered> answered;
  for (size_t row = 0; row < batch.questions.size(); ++row) {
    tasks::Marks marks = MarkRow(batch, row, &produced[row]);
    answered.push_back({std::move(marks), std::move(produced[row])});
  }
  return answered;
}

// Reads the answers of one pass at their places and marks them.
absl::StatusOr<std::vector<Answered>> MarkRead(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  if (options.should_stop()) return Stopped();
  const std::vector<tasks::Question>& questions = batch.questions;
  const Rows prompts = PromptsOf(questions, batch.pass.num_rows);
  const auto places = PlacesOf(questions, prompts.size());
  ORDO_ASSIGN_OR_RETURN(Rows produced, Guard("read answers", [&] {
                          return PredictAt(model, prompts, places,
                                           ReadOptions(options));
                        }));
  std::vector<Answered> answered;
  for (size_t row = 0; row < questions.size(); ++row) {
    const std::vector<int64_t>& answer = questions[row].answer;
    Answered& of_row = answered.emplace_back();
    for (size_t i = 0; i < answer.size(); ++i) {
      of_row.marks.push_back(produced[row][i] == answer[i] ? 1 : 0);
    }
    of_row.produced = std::move(produced[row]);
  }
  return answered;
}

// How likely the model finds the answers of one pass.
absl::StatusOr<std::vector<Answered>> MeasureLikelihood(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  if (options.should_stop()) return Stopped();
  const std::vector<tasks::Question>& questions = batch.questions;
  Asked asked;
  asked.rows = PromptsOf(questions, batch.pass.num_rows);
  asked.places = PlacesOf(questions, asked.rows.size());
  for (const tasks::Question& question : questions) {
    asked.answers.push_back(question.answer);
  }
  asked.answers.resize(asked.rows.size());
  ORDO_ASSIGN_OR_RETURN(const std::vector<double> nats,
                        Guard("measure likelihoods", [&] {
                          return NatsAt(model, asked, ReadOptions(options));
                        }));
  std::vector<Answered> answered(questions.size());
  for (size_t row = 0; row < questions.size(); ++row) {
    answered[row].nats = nats[row];
  }
  return answered;
}

absl::StatusOr<std::vector<Answered>> Answer(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  if (batch.task.measure() == tasks::Measure::kLikelihood) {
    return MeasureLikelihood(model, batch, options);
  }
  return batch.pass.num_tokens > 0 ? MarkDecoded(model, batch, options)
                                   : MarkRead(model, batch, options);
}

// As an earlier try answered it, where that is known.
absl::StatusOr<std::vector<Answered>> AnswerOnce(
    const transformer::Transformer& model, const Batch& batch,
    const EvaluateOptions& options) {
  if (options.log == nullptr) return Answer(model, batch, options);
  const std::vector<Answered>* known = options.log->Find(batch.number);
  if (known != nullptr && known->size() == batch.questions.size()) {
    return *known;
  }
  ORDO_ASSIGN_OR_RETURN(std::vector<Answered> answered,
                        Answer(model, batch, options));
  options.log->Add(batch.number, answered);
  return answered;
}

// With room for each question.
tasks::Marked NothingMarked(const tasks::EvaluationTask& task, uint64_t seed) {
  const auto size = static_cast<size_t>(task.size());
  tasks::Marked marked;
  marked.seed = seed;
  switch (task.measure()) {
    case tasks::Measure::kRight:
      marked.answers.resize(size);
      break;
    case tasks::Measure::kLikelihood:
      marked.nats.resize(size);
      break;
    case tasks::Measure::kText:
      marked.texts.resize(size);
      break;
    case tasks::Measure::kInside:
      marked.inside.resize(size);
      break;
  }
  return marked;
}

// The items that a task makes itself.
std::vector<Item> ItemsOf(std::vector<tasks::ScoredItem> scored) {
  std::vector<Item> items;
  for (tasks::ScoredItem& from : scored) {
    Item& item = items.emplace_back();
    item.id = std::move(from.id);
    item.unit = std::move(from.unit);
    item.score = from.score;
    SetOutput(from.output, &item);
  }
  return items;
}

// Scores what is marked. The marks of answers that were read become the items'.
Outcome Score(const tasks::EvaluationTask& task, tasks::Marked marked,
              std::vector<Item> items) {
  Outcome outcome;
  outcome.scores = task.Score(marked);
  if (!outcome.scores.items.empty()) {
    outcome.items = ItemsOf(std::move(outcome.scores.items));
    return outcome;
  }
  const bool read = task.AnswerLength(0) == 0;
  for (size_t index = 0; index < items.size(); ++index) {
    if (task.measure() != tasks::Measure::kRight) break;
    items[index].score = task.ItemScore(marked.answers[index]);
    if (read) items[index].marks = std::move(marked.answers[index]);
  }
  outcome.items = std::move(items);
  return outcome;
}

// Of Measure::kInside: question by question, with maps of the first.
absl::StatusOr<Outcome> LookInside(const transformer::Transformer& model,
                                   const tasks::EvaluationTask& task,
                                   const EvaluateOptions& options) {
  tasks::Marked marked = NothingMarked(task, options.seed);
  std::vector<Item> items(task.size());
  options.on_progress(0, task.size());
  for (int64_t index = 0; index < task.size(); ++index) {
    if (options.should_stop()) return Stopped();
    ORDO_ASSIGN_OR_RETURN(const tasks::Question question,
                          task.Generate(options.seed, index));
    tasks::Inside& inside = marked.inside[index];
    ORDO_ASSIGN_OR_RETURN(inside, Guard("look into the model", [&] {
                            return Inspect(model, *task.inside(),
                                           question.prompt, index == 0);
                          }));
    Item& item = items[index];
    item.id = task.ItemId(options.seed, index);
    item.unit = task.UnitId(options.seed, index);
    item.score = inside.score;
    SetOutput(task.tokenizer().Decode(question.prompt), &item);
    options.on_progress(index + 1, task.size());
  }
  Outcome outcome;
  outcome.scores = task.Score(marked);
  outcome.items = std::move(items);
  return outcome;
}

}  // namespace

absl::Status CheckVocabulary(const transformer::Transformer& model,
                             const tasks::EvaluationTask& task) {
  const int has = model.model().vocabulary_size();
  const int needs = task.tokenizer().vocabulary_size();
  if (has >= needs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the model has ", has, " tokens, the evaluation needs ", needs));
}

absl::StatusOr<Outcome> Evaluate(const transformer::Transformer& model,
                                 const tasks::EvaluationTask& task,
                                 const EvaluateOptions& options) {
  ORDO_RETURN_IF_ERROR(CheckVocabulary(model, task));
  if (task.measure() == tasks::Measure::kInside) {
    return LookInside(model, task, options);
  }
  const uint64_t seed = options.seed;
  tasks::Marked marked = NothingMarked(task, seed);
  std::vector<Item> items(task.size());
  int64_t num_done = 0;
  options.on_progress(num_done, task.size());
  const std::vector<Pass> passes = MakePasses(task, options.micro_batch);
  for (size_t number = 0; number < passes.size(); ++number) {
    const Pass& pass = passes[number];
    std::vector<tasks::Question> questions;
    for (const int64_t index : pass.indices) {
      ORDO_ASSIGN_OR_RETURN(tasks::Question question,
                            task.Generate(seed, index));
      questions.push_back(std::move(question));
    }
    ORDO_ASSIGN_OR_RETURN(
        std::vector<Answered> answered,
        AnswerOnce(model, {task, pass, questions, static_cast<int64_t>(number)},
                   options));
    for (size_t row = 0; row < answered.size(); ++row) {
      const int64_t index = pass.indices[row];
      Item& item = items[index];
      item.id = task.ItemId(seed, index);
      item.unit = task.UnitId(seed, index);
      if (task.measure() == tasks::Measure::kLikelihood) {
        marked.nats[index] = answered[row].nats;
        item.score = -answered[row].nats /
                     static_cast<double>(questions[row].answer.size());
        continue;
      }
      std::string said = task.tokenizer().Decode(answered[row].produced);
      SetOutput(said, &item);
      if (task.measure() == tasks::Measure::kText) {
        marked.texts[index] = std::move(said);
      } else {
        marked.answers[index] = std::move(answered[row].marks);
      }
    }
    num_done += static_cast<int64_t>(answered.size());
    options.on_progress(num_done, task.size());
  }
  return Score(task, std::move(marked), std::move(items));
}

}  // namespace ordo::model::evaluation
