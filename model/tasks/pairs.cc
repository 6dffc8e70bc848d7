#include "model/tasks/pairs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/tasks/epochs.h"
#include "model/tasks/shares.h"

namespace ordo::model::tasks {
namespace {

class Pairs : public TrainingTask {
 public:
  Pairs(const Operation& operation, const PairsOptions& options)
      : operation_(operation),
        options_(options),
        tokenizer_(operation.make_tokenizer()) {}

  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  int row_length() const override {
    return operation_.prompt_length(options_.max_first, options_.max_second) +
           operation_.answer_length(options_.max_first, options_.max_second);
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    const uint64_t row = RowOfSet(seed, index, options_.rows);
    base::RandomSequence random(seed, absl::StrCat("data/", row));
    const auto [i, j] = Lengths(row, &random);
    const Question question = operation_.draw(i, j, &random);
    Sample sample;
    sample.tokens = question.prompt;
    sample.tokens.insert(sample.tokens.end(), question.answer.begin(),
                         question.answer.end());
    sample.scored.assign(question.prompt.size(), 0);
    sample.scored.resize(sample.tokens.size(), 1);
    sample.tokens.resize(row_length(), kPad);
    sample.scored.resize(row_length(), 0);
    return sample;
  }

 private:
  // Those of a set are walked through, others are drawn.
  std::pair<int, int> Lengths(uint64_t row,
                              base::RandomSequence* random) const {
    const uint64_t firsts = options_.max_first, seconds = options_.max_second;
    uint64_t i = 0, j = 0;
    if (options_.rows > 0) {
      i = row / seconds % firsts;
      j = row % seconds;
    } else {
      i = random->Int(firsts);
      j = random->Int(seconds);
    }
    return {static_cast<int>(1 + i), static_cast<int>(1 + j)};
  }

  const Operation operation_;
  const PairsOptions options_;
  const std::unique_ptr<Tokenizer> tokenizer_;
};

// cells[i - 1][j - 1]: share of right answers for lengths i and j.
using Cells = std::vector<std::vector<double>>;

class PairGrid : public EvaluationTask {
 public:
  PairGrid(const Operation& operation, const PairGridOptions& options)
      : operation_(operation),
        options_(options),
        tokenizer_(operation.make_tokenizer()) {}

  const Tokenizer& tokenizer() const override { return *tokenizer_; }

  int64_t size() const override {
    return int64_t{options_.max_first} * options_.max_second * options_.samples;
  }

  int PromptLength(int64_t index) const override {
    const auto [i, j] = Lengths(index);
    const int prompt = operation_.prompt_length(i, j);
    // The last token is only said.
    return operation_.ragged ? prompt + operation_.answer_length(i, j) - 1
                             : prompt;
  }

  int AnswerLength(int64_t index) const override {
    const auto [i, j] = Lengths(index);
    return operation_.ragged ? 0 : operation_.answer_length(i, j);
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const auto [i, j] = Lengths(index);
    // The stream is named by the cell, so a larger grid keeps the questions of
    // a smaller one.
    base::RandomSequence random(
        seed, absl::StrCat(std::string(operation_.stream), "/", i, "/", j, "/",
                           index % options_.samples));
    Question question = operation_.draw(i, j, &random);
    if (operation_.ragged) ReadAtPlaces(PromptLength(index), &question);
    return question;
  }

  Scores Score(const Marked& marked) const override {
    Cells cells(options_.max_first, std::vector<double>(options_.max_second));
    for (int64_t index = 0; index < size(); ++index) {
      const auto [a, b] = Lengths(index);
      cells[a - 1][b - 1] += IsRight(marked.answers[index]) ? 1 : 0;
    }
    for (auto& row : cells) {
      for (double& cell : row) cell /= options_.samples;
    }
    Scores scores;
    scores.metrics = Metrics(cells);
    for (const auto& [kind, most, trained] :
         {std::tuple(operation_.first_kind, options_.max_first,
                     options_.trained_first),
          std::tuple(operation_.second_kind, options_.max_second,
                     options_.trained_second)}) {
      scores.details[absl::StrCat("max_", std::string(kind))] = most;
      scores.details[absl::StrCat("trained_", std::string(kind))] = trained;
    }
    scores.details["samples"] = options_.samples;
    scores.details["cells"] = cells;
    scores.csv = Csv(cells);
    scores.markdown = Markdown(cells, scores.metrics);
    return scores;
  }

 private:
  // Lengths of question `index`.
  std::pair<int, int> Lengths(int64_t index) const {
    const int64_t cell = index / options_.samples;
    return {static_cast<int>(1 + cell / options_.max_second),
            static_cast<int>(1 + cell % options_.max_second)};
  }

  std::map<std::string, double> Metrics(const Cells& cells) const {
    Mean grid, trained, outside, diagonal;
    int largest_95 = 0;
    for (int i = 0; i < options_.max_first; ++i) {
      for (int j = 0; j < options_.max_second; ++j) {
        const bool inside =
            i < options_.trained_first && j < options_.trained_second;
        grid.Add(cells[i][j]);
        (inside ? trained : outside).Add(cells[i][j]);
      }
      if (i >= options_.max_second) continue;
      diagonal.Add(cells[i][i]);
      if (cells[i][i] >= 0.95) largest_95 = i + 1;
    }
    std::map<std::string, double> metrics;
    metrics["grid_mean"] = grid.sum / grid.count;
    metrics["diagonal_mean"] = diagonal.sum / diagonal.count;
    metrics["largest_95"] = largest_95;
    if (trained.count > 0)
      metrics["trained_mean"] = trained.sum / trained.count;
    if (trained.count > 0 && outside.count > 0) {
      metrics["outside_mean"] = outside.sum / outside.count;
    }
    return metrics;
  }

  std::string Csv(const Cells& cells) const {
    std::string text =
        absl::StrCat(std::string(operation_.first_column), ",",
                     std::string(operation_.second_column), ",exact_match\n");
    for (size_t i = 0; i < cells.size(); ++i) {
      for (size_t j = 0; j < cells[i].size(); ++j) {
        absl::StrAppend(&text, i + 1, ",", j + 1, ",", cells[i][j], "\n");
      }
    }
    return text;
  }

  std::string Markdown(const Cells& cells,
                       const std::map<std::string, double>& metrics) const {
    std::string text = absl::StrCat(
        "Exact match in per cent; rows: ", std::string(operation_.first),
        ", columns: ", std::string(operation_.second), ".\n\n| |");
    for (int j = 1; j <= options_.max_second; ++j) {
      absl::StrAppend(&text, j, "|");
    }
    text += "\n|---|";
    for (int j = 1; j <= options_.max_second; ++j) text += "---|";
    text += "\n";
    for (size_t i = 0; i < cells.size(); ++i) {
      absl::StrAppend(&text, "|", i + 1, "|");
      for (const double cell : cells[i]) {
        absl::StrAppendFormat(&text, "%.0f|", 100 * cell);
      }
      text += "\n";
    }
    text += "\n";
    for (const auto& [name, value] : metrics) {
      absl::StrAppend(&text, "- ", name, ": ", value, "\n");
    }
    return text;
  }

  const Operation operation_;
  const PairGridOptions options_;
  const std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace

std::unique_ptr<TrainingTask> MakePairs(const Operation& operation,
                                        const PairsOptions& options) {
  return std::make_unique<Pairs>(operation, options);
}

std::unique_ptr<EvaluationTask> MakePairGrid(const Operation& operation,
                                             const PairGridOptions& options) {
  return std::make_unique<PairGrid>(operation, options);
}

}  // namespace ordo::model::tasks
