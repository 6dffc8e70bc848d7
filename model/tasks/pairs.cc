#include "model/tasks/pairs.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/tasks/epochs.h"
#include "model/tasks/rate.h"
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

// cells[i - 1][j - 1]: right answers for lengths i and j.
using Cells = std::vector<std::vector<Rate>>;

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
    Cells cells(options_.max_first, std::vector<Rate>(options_.max_second));
    std::vector<std::vector<double>> shares(options_.max_first);
    for (int64_t index = 0; index < size(); ++index) {
      const auto [a, b] = Lengths(index);
      cells[a - 1][b - 1].Add(index, IsRight(marked.answers[index]));
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      for (const Rate& cell : cells[i]) shares[i].push_back(cell.value());
    }
    Scores scores;
    SetMetrics(Metrics(cells), &scores);
    for (const auto& [kind, most, trained] :
         {std::tuple(operation_.first_kind, options_.max_first,
                     options_.trained_first),
          std::tuple(operation_.second_kind, options_.max_second,
                     options_.trained_second)}) {
      scores.details[absl::StrCat("max_", std::string(kind))] = most;
      scores.details[absl::StrCat("trained_", std::string(kind))] = trained;
    }
    scores.details["samples"] = options_.samples;
    scores.details["cells"] = std::move(shares);
    scores.csv = Csv(cells);
    scores.markdown = Markdown(cells, scores);
    return scores;
  }

 private:
  // Lengths of question `index`.
  std::pair<int, int> Lengths(int64_t index) const {
    const int64_t cell = index / options_.samples;
    return {static_cast<int>(1 + cell / options_.max_second),
            static_cast<int>(1 + cell % options_.max_second)};
  }

  Estimates Metrics(const Cells& cells) const {
    std::vector<const Rate*> grid, trained, outside, diagonal;
    int largest_95 = 0;
    for (int i = 0; i < options_.max_first; ++i) {
      for (int j = 0; j < options_.max_second; ++j) {
        const bool inside =
            i < options_.trained_first && j < options_.trained_second;
        grid.push_back(&cells[i][j]);
        (inside ? trained : outside).push_back(&cells[i][j]);
      }
      if (i >= options_.max_second) continue;
      diagonal.push_back(&cells[i][i]);
      if (cells[i][i].value() >= 0.95) largest_95 = i + 1;
    }
    Estimates metrics;
    metrics["grid_mean"] = MeanOf(grid);
    metrics["diagonal_mean"] = MeanOf(diagonal);
    metrics["largest_95"].value = largest_95;
    if (!trained.empty()) metrics["trained_mean"] = MeanOf(trained);
    if (!trained.empty() && !outside.empty()) {
      metrics["outside_mean"] = MeanOf(outside);
    }
    return metrics;
  }

  std::string Csv(const Cells& cells) const {
    std::string text = absl::StrCat(std::string(operation_.first_column), ",",
                                    std::string(operation_.second_column),
                                    ",exact_match,standard_error\n");
    for (size_t i = 0; i < cells.size(); ++i) {
      for (size_t j = 0; j < cells[i].size(); ++j) {
        const Estimate cell = EstimateOf(cells[i][j]);
        absl::StrAppend(&text, i + 1, ",", j + 1, ",", cell.value, ",",
                        ErrorCell(cell), "\n");
      }
    }
    return text;
  }

  std::string Markdown(const Cells& cells, const Scores& scores) const {
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
      for (const Rate& cell : cells[i]) {
        absl::StrAppendFormat(&text, "%.0f|", 100 * cell.value());
      }
      text += "\n";
    }
    absl::StrAppend(&text, "\n", MetricLines(scores));
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
