#include "model/text/task/questions_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/digest/digest.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "model/text/questions/arc.h"
#include "model/text/questions/mmlu.h"
#include "model/text/questions/scores.h"
#include "model/text/questions/scrolls.h"
#include "model/text/questions/task_file.h"
#include "model/text/scoring/means.h"
#include "model/text/task/locations.h"
#include "model/text/task/question_rows.h"
#include "model/text/task/table_cells.h"
#include "model/text/task/token_data.h"
#include "model/text/tokenizers/tokenizer.h"

namespace ordo::model::text::task {
namespace {

using nlohmann::ordered_json;
using questions::TextQuestion;
using questions::TextQuestions;
using questions::TextScores;
using scoring::Mean;
using tasks::DataAccess;

// Rows with choices have lengths that are multiples of it.
constexpr int kRowStep = 32;
// Groups that a table for people has; the others are in the spreadsheet.
constexpr size_t kMaxGroupsShown = 64;

// Nothing of an error that is not known.
std::string ErrorText(const Mean& mean, const char* unknown) {
  if (std::isinf(mean.standard_error)) return unknown;
  return absl::StrFormat("%.6g", mean.standard_error);
}

ordered_json ToJson(const std::map<std::string, Mean>& means) {
  ordered_json all = ordered_json::object();
  for (const auto& [name, mean] : means) {
    ordered_json& one = all[name];
    one["value"] = mean.value;
    if (!std::isinf(mean.standard_error)) {
      one["standard_error"] = mean.standard_error;
    }
    one["questions"] = mean.num_items;
    one["units"] = mean.num_units;
  }
  return all;
}

// Adds the means of one kind to both tables, to that for people the first
// `most_shown`.
void AddRows(const char* kind, const std::map<std::string, Mean>& means,
             size_t most_shown, tasks::Scores* scores) {
  size_t shown = 0;
  for (const auto& [name, mean] : means) {
    absl::StrAppend(&scores->csv, kind, ",", CsvField(name), ",",
                    mean.num_items, ",", absl::StrFormat("%.6g", mean.value),
                    ",", ErrorText(mean, ""), "\n");
    if (shown++ >= most_shown) continue;
    absl::StrAppend(&scores->markdown, "| ", kind, " | ", MarkdownCell(name),
                    " | ", mean.num_items, " | ",
                    absl::StrFormat("%.4f", mean.value), " | ",
                    ErrorText(mean, "-"), " |\n");
  }
  if (shown > most_shown) {
    absl::StrAppend(&scores->markdown, "| ", kind, " | (", shown - most_shown,
                    " more in the CSV) | | | |\n");
  }
}

class QuestionsTask : public tasks::EvaluationTask {
 public:
  QuestionsTask(const QuestionsOptions& options,
                std::unique_ptr<tokenizers::TextTokenizer> tokenizer,
                TextQuestions questions, QuestionRows rows)
      : options_(options),
        tokenizer_(std::move(tokenizer)),
        questions_(std::move(questions)),
        of_choices_(questions::IsOfChoices(questions_.metric)),
        rows_(std::move(rows)),
        fingerprint_(base::Sha256Hex(
            absl::StrCat(questions_.version, " ", tokenizer_->digest()))) {}

  const tasks::Tokenizer& tokenizer() const override { return *tokenizer_; }
  int64_t size() const override {
    return static_cast<int64_t>(rows_.rows.size());
  }
  tasks::Measure measure() const override {
    return of_choices_ ? tasks::Measure::kLikelihood : tasks::Measure::kText;
  }
  std::string data_fingerprint() const override { return fingerprint_; }
  std::optional<int64_t> end_token() const override {
    return tokenizer_->end_token();
  }

  // Of a choice the last token is only said.
  int PromptLength(int64_t index) const override {
    const auto tokens = static_cast<int>(rows_.rows[index].tokens.size());
    if (!of_choices_) return tokens;
    const int filled = (tokens - 1 + kRowStep - 1) / kRowStep * kRowStep;
    return std::min(filled, static_cast<int>(options_.max_tokens) - 1);
  }
  int AnswerLength(int64_t /*index*/) const override {
    return of_choices_ ? 0 : static_cast<int>(questions_.limits.answer_tokens);
  }

  int64_t drawn_from() const override { return options_.top_k; }

  absl::StatusOr<tasks::Question> Generate(uint64_t /*seed*/,
                                           int64_t index) const override {
    const QuestionRow& row = rows_.rows[index];
    tasks::Question question;
    const auto said = row.tokens.end() - static_cast<int64_t>(row.num_scored);
    question.prompt.assign(row.tokens.begin(), said);
    if (!of_choices_) return question;
    question.answer.assign(said, row.tokens.end());
    tasks::ReadAtPlaces(PromptLength(index), &question);
    return question;
  }

  // Of a row; items are made by Score.
  std::string ItemId(uint64_t /*seed*/, int64_t index) const override {
    const QuestionRow& row = rows_.rows[index];
    const std::string& id = questions_.items[row.question].id;
    return of_choices_ ? absl::StrCat(id, "/", row.choice) : id;
  }
  std::string UnitId(uint64_t /*seed*/, int64_t index) const override {
    return questions_.items[rows_.rows[index].question].unit;
  }

  tasks::Scores Score(const tasks::Marked& marked) const override {
    const TextScores found =
        of_choices_ ? questions::ScoreChoices(questions_, LikelihoodsOf(marked))
                    : questions::ScoreAnswers(questions_, marked.texts);
    const std::string metric = questions::NameOf(questions_.metric);
    tasks::Scores scores;
    const auto set = [&scores](const std::string& name, const Mean& mean) {
      scores.metrics[name] = mean.value;
      if (std::isinf(mean.standard_error)) return;
      scores.standard_errors[name] = mean.standard_error;
      scores.sampled[name] = {mean.num_units, mean.num_items};
    };
    for (const auto& [name, mean] : found.means) set(name, mean);
    for (const auto& [name, mean] : found.categories) {
      set(absl::StrCat(metric, "_", name), mean);
    }
    scores.details = About();
    if (of_choices_) scores.details["non_finite"] = found.num_non_finite;
    scores.details["means"] = ToJson(found.means);
    scores.details["categories"] = ToJson(found.categories);
    scores.details["groups"] = ToJson(found.groups);
    scores.csv = "kind,name,questions,score,standard_error\n";
    scores.markdown = HowAnswered(marked.seed);
    scores.markdown +=
        "| | | questions | score | standard error |\n"
        "|---|---|---:|---:|---:|\n";
    AddRows("metric", found.means, found.means.size(), &scores);
    AddRows("category", found.categories, kMaxGroupsShown, &scores);
    AddRows("group", found.groups, kMaxGroupsShown, &scores);
    for (size_t i = 0; i < questions_.items.size(); ++i) {
      const TextQuestion& question = questions_.items[i];
      tasks::ScoredItem& item = scores.items.emplace_back();
      item.id = question.id;
      item.unit = question.unit;
      item.score = found.items[i];
      item.output = of_choices_ ? question.choices[found.chosen[i]]
                                : std::string(questions::CutAtStops(
                                      questions_.stops, marked.texts[i]));
    }
    return scores;
  }

 private:
  // Of each question those of its choices.
  std::vector<std::vector<double>> LikelihoodsOf(
      const tasks::Marked& marked) const {
    std::vector<std::vector<double>> likelihoods(questions_.items.size());
    for (size_t i = 0; i < rows_.rows.size(); ++i) {
      likelihoods[rows_.rows[i].question].push_back(-marked.nats[i]);
    }
    return likelihoods;
  }

  // For people: nothing of likeliest answers, which are the same again.
  std::string HowAnswered(uint64_t seed) const {
    if (options_.top_k == 1) return "";
    return absl::StrCat(
        "Answers are drawn, each token from ",
        options_.top_k == 0
            ? "all"
            : absl::StrCat("the ", options_.top_k, " likeliest"),
        ", with seed ", seed, ": another seed gives others.\n\n");
  }

  // What numbers cannot be compared without.
  ordered_json About() const {
    ordered_json about;
    about["data_fingerprint"] = fingerprint_;
    about["questions_sha256"] = questions_.version;
    about["tokenizer"] = options_.tokenizer;
    about["tokenizer_sha256"] = tokenizer_->digest();
    about["vocabulary_size"] = tokenizer_->vocabulary_size();
    about["metric"] = questions::NameOf(questions_.metric);
    if (!of_choices_) about["top_k"] = options_.top_k;
    about["cut_prompts"] = rows_.num_cut;
    return about;
  }

  const QuestionsOptions options_;
  const std::unique_ptr<tokenizers::TextTokenizer> tokenizer_;
  // Without their prompts.
  const TextQuestions questions_;
  const bool of_choices_;
  const QuestionRows rows_;
  const std::string fingerprint_;
};

absl::StatusOr<TextQuestions> ReadFormat(base::Filesystem& files,
                                         const QuestionsOptions& options,
                                         const std::string& path,
                                         const std::string& examples) {
  if (options.format == "own") return questions::ReadTaskFile(files, path);
  if (options.format == "mmlu") {
    return questions::ReadMmlu(files, {path, options.few_shot, examples});
  }
  if (options.format == "arc") {
    return questions::ReadArc(files, {path, options.few_shot, examples});
  }
  ORDO_ASSIGN_OR_RETURN(
      const questions::ScrollsSet set,
      base::AddContext(questions::FindScrollsSet(options.format),
                       options.field + ".format"));
  return questions::ReadScrolls(files, path, set);
}

// Leaves the `most` questions whose ids have the smallest digests, in their
// order.
void Draw(size_t most, std::vector<TextQuestion>* questions) {
  std::vector<std::pair<std::string, size_t>> drawn;
  for (size_t i = 0; i < questions->size(); ++i) {
    drawn.emplace_back(base::Sha256Hex((*questions)[i].id), i);
  }
  std::nth_element(drawn.begin(), drawn.begin() + static_cast<int64_t>(most),
                   drawn.end());
  drawn.resize(most);
  std::sort(drawn.begin(), drawn.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<TextQuestion> left;
  for (const auto& [digest, i] : drawn) {
    left.push_back(std::move((*questions)[i]));
  }
  *questions = std::move(left);
}

// What the options say of the questions, beside the file.
absl::Status Adapt(const QuestionsOptions& options, TextQuestions* questions) {
  const bool of_choices = questions::IsOfChoices(questions->metric);
  if (options.metric.has_value()) {
    if (questions::IsOfChoices(*options.metric) != of_choices) {
      return base::InvalidField(
          options.field + ".metric",
          absl::StrCat(questions::NameOf(*options.metric), " is not of ",
                       of_choices
                           ? "questions with choices: give acc or acc_norm"
                           : "answers in words: give exact_match, f1 or rouge",
                       ", or leave it out"));
    }
    questions->metric = *options.metric;
  }
  if (options.answer_tokens > 0) {
    if (of_choices) {
      return base::InvalidField(options.field + ".answer_tokens",
                                "is of answers in words, and these questions "
                                "have choices: leave it out");
    }
    questions->limits.answer_tokens =
        static_cast<size_t>(options.answer_tokens);
  }
  if (options.top_k != 1 && of_choices) {
    return base::InvalidField(options.field + ".top_k",
                              "is of answers in words, and these questions "
                              "have choices: leave it out");
  }
  for (const TextQuestion& question : questions->items) {
    if (!question.id.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(options.field, ".path: read ", options.path,
                     ": the id of a question is empty: give it one"));
  }
  const auto most = static_cast<size_t>(options.max_questions);
  if (most > 0 && questions->items.size() > most) {
    Draw(most, &questions->items);
  }
  return absl::OkStatus();
}

// Whether an error tells how the reading of that file ended.
bool IsOfFile(const absl::Status& status, const std::string& path) {
  const std::string reading = "read " + path;
  return absl::StartsWith(status.message(), reading + ":") ||
         absl::StartsWith(status.message(), reading + ",");
}

absl::StatusOr<TextQuestions> ReadQuestions(const DataAccess& access,
                                            const QuestionsOptions& options) {
  ORDO_ASSIGN_OR_RETURN(
      const std::string path,
      LocateFile(access, options.field + ".path", options.path));
  std::string examples;
  if (options.few_shot > 0) {
    ORDO_ASSIGN_OR_RETURN(
        examples,
        LocateFile(access, options.field + ".examples", options.examples));
  }
  auto questions = ReadFormat(*access.files, options, path, examples);
  std::string field = options.field;
  if (IsOfFile(questions.status(), examples)) {
    field += ".examples";
  } else if (IsOfFile(questions.status(), path)) {
    field += ".path";
  }
  return base::AddContext(std::move(questions), field);
}

}  // namespace

std::vector<std::string> QuestionFormats() {
  std::vector<std::string> formats = {"own", "mmlu", "arc"};
  for (const questions::ScrollsSet& set : questions::ScrollsSets()) {
    formats.emplace_back(set.name);
  }
  return formats;
}

absl::StatusOr<std::unique_ptr<tasks::EvaluationTask>> OpenQuestions(
    const DataAccess& access, const QuestionsOptions& options) {
  ORDO_ASSIGN_OR_RETURN(
      auto tokenizer,
      OpenTokenizer(access, options.field + ".tokenizer", options.tokenizer));
  ORDO_ASSIGN_OR_RETURN(TextQuestions read, ReadQuestions(access, options));
  ORDO_RETURN_IF_ERROR(Adapt(options, &read));
  QuestionRowOptions rows;
  rows.field = options.field;
  rows.max_tokens = options.max_tokens;
  rows.begin = options.begin;
  rows.keep_going = access.keep_going;
  ORDO_ASSIGN_OR_RETURN(QuestionRows made,
                        MakeQuestionRows(*tokenizer, rows, &read));
  return std::make_unique<QuestionsTask>(options, std::move(tokenizer),
                                         std::move(read), std::move(made));
}

}  // namespace ordo::model::text::task
