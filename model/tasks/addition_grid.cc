#include "model/tasks/addition_grid.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/random/random.h"
#include "model/tasks/addition.h"

namespace ordo::model::tasks {
namespace {

// cells[i - 1][j - 1]: share of right answers for i-digit plus j-digit numbers.
using Cells = std::vector<std::vector<double>>;

// A mean that may have nothing in it.
struct Mean {
  double sum = 0;
  int count = 0;

  void Add(double value) {
    sum += value;
    ++count;
  }
};

class AdditionGrid : public EvaluationTask {
 public:
  explicit AdditionGrid(const AdditionGridOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }

  int64_t size() const override {
    return int64_t{options_.max_digits} * options_.max_digits *
           options_.samples;
  }

  int PromptLength(int64_t index) const override {
    const auto [a, b] = Lengths(index);
    return a + b + 2;
  }

  Question Generate(uint64_t seed, int64_t index) const override {
    const auto [num_digits_a, num_digits_b] = Lengths(index);
    // The stream is named by the cell, so a larger grid keeps the questions of
    // a smaller one.
    base::RandomSequence random(
        seed, absl::StrCat("addition_grid/", num_digits_a, "/", num_digits_b,
                           "/", index % options_.samples));
    const Digits a = DrawNumber(num_digits_a, &random);
    const Digits b = DrawNumber(num_digits_b, &random);
    return MakeAdditionQuestion(a, b);
  }

  Scores Score(const Marked& marked) const override {
    Cells cells(options_.max_digits, std::vector<double>(options_.max_digits));
    for (int64_t index = 0; index < size(); ++index) {
      const auto [a, b] = Lengths(index);
      cells[a - 1][b - 1] += IsRight(marked.answers[index]) ? 1 : 0;
    }
    for (auto& row : cells) {
      for (double& cell : row) cell /= options_.samples;
    }
    Scores scores;
    scores.metrics = Metrics(cells);
    scores.details["max_digits"] = options_.max_digits;
    scores.details["trained_digits"] = options_.trained_digits;
    scores.details["samples"] = options_.samples;
    scores.details["cells"] = cells;
    scores.csv = Csv(cells);
    scores.markdown = Markdown(cells, scores.metrics);
    return scores;
  }

 private:
  // Numbers of digits of the operands of question `index`.
  std::pair<int, int> Lengths(int64_t index) const {
    const int64_t cell = index / options_.samples;
    return {static_cast<int>(1 + cell / options_.max_digits),
            static_cast<int>(1 + cell % options_.max_digits)};
  }

  std::map<std::string, double> Metrics(const Cells& cells) const {
    Mean grid, trained, outside, diagonal;
    int largest_95 = 0;
    for (int i = 0; i < options_.max_digits; ++i) {
      for (int j = 0; j < options_.max_digits; ++j) {
        const bool inside =
            i < options_.trained_digits && j < options_.trained_digits;
        grid.Add(cells[i][j]);
        (inside ? trained : outside).Add(cells[i][j]);
      }
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

  static std::string Csv(const Cells& cells) {
    std::string text = "digits_a,digits_b,exact_match\n";
    for (size_t i = 0; i < cells.size(); ++i) {
      for (size_t j = 0; j < cells.size(); ++j) {
        absl::StrAppend(&text, i + 1, ",", j + 1, ",", cells[i][j], "\n");
      }
    }
    return text;
  }

  static std::string Markdown(const Cells& cells,
                              const std::map<std::string, double>& metrics) {
    std::string text =
        "Exact match in per cent; rows: digits of A, columns: "
        "digits of B.\n\n|A\\B|";
    for (size_t j = 0; j < cells.size(); ++j) {
      absl::StrAppend(&text, j + 1, "|");
    }
    text += "\n|---|";
    for (size_t j = 0; j < cells.size(); ++j) text += "---|";
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

  const AdditionGridOptions options_;
  const ArithmeticTokenizer tokenizer_;
};

}  // namespace

std::unique_ptr<EvaluationTask> MakeAdditionGrid(
    const AdditionGridOptions& options) {
  return std::make_unique<AdditionGrid>(options);
}

}  // namespace ordo::model::tasks
