#include "model/tasks/selective_copy.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "model/tasks/rate.h"
#include "model/tasks/shares.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks {
namespace {

constexpr int64_t kBlank = 0;
constexpr int64_t kLast = 15;

// . and a to o: the blank and the others.
WordTokenizer Symbols() {
  std::vector<std::string> words = {"."};
  for (char letter = 'a'; letter <= 'o'; ++letter) {
    words.emplace_back(1, letter);
  }
  return WordTokenizer(Ids::kWords, words);
}

struct Row {
  // Symbols among blanks, then the separator if there is one.
  std::vector<int64_t> input;
  std::vector<int64_t> symbols;
};

Row DrawRow(const SelectiveCopyOptions& options, base::RandomSequence* random) {
  const bool takes_last = options.markers || options.separator;
  const uint64_t num_kinds = takes_last ? kLast - 1 : kLast;
  Row row;
  uint64_t num_symbols = options.symbols;
  // Each place has one with the probability that is left for it, which makes
  // all sets equally likely (Knuth, volume 2, algorithm 3.4.2 S).
  for (uint64_t left = num_symbols + options.blanks; left > 0; --left) {
    if (random->Int(left) >= num_symbols) {
      row.input.push_back(kBlank);
      continue;
    }
    --num_symbols;
    row.symbols.push_back(1 + static_cast<int64_t>(random->Int(num_kinds)));
    row.input.push_back(row.symbols.back());
  }
  if (options.separator) row.input.push_back(kLast);
  return row;
}

class SelectiveCopy : public TrainingTask {
 public:
  explicit SelectiveCopy(const SelectiveCopyOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  // After the last marker stands one more token, which is not read.
  int row_length() const override {
    return 2 * options_.symbols + options_.blanks +
           (options_.markers || options_.separator ? 1 : 0);
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    const Row row = DrawRow(options_, &random);
    Sample sample;
    sample.tokens = row.input;
    if (options_.markers) {
      sample.tokens.resize(row.input.size() + row.symbols.size(), kLast);
      sample.tokens.push_back(kBlank);
      sample.targets.assign(row.input.size() + 1, kBlank);
      sample.targets.insert(sample.targets.end(), row.symbols.begin(),
                            row.symbols.end());
    } else {
      sample.tokens.insert(sample.tokens.end(), row.symbols.begin(),
                           row.symbols.end());
    }
    sample.scored.assign(sample.tokens.size() - row.symbols.size(), 0);
    sample.scored.resize(sample.tokens.size(), 1);
    return sample;
  }

 private:
  const SelectiveCopyOptions options_;
  const WordTokenizer tokenizer_ = Symbols();
};

class SelectiveCopies : public EvaluationTask {
 public:
  explicit SelectiveCopies(const SelectiveCopiesOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int64_t size() const override { return options_.samples; }
  int PromptLength(int64_t /*index*/) const override {
    const SelectiveCopyOptions& rows = options_.rows;
    return 2 * rows.symbols + rows.blanks +
           (rows.markers ? 0 : (rows.separator ? 1 : 0) - 1);
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("selective_copy/", index));
    Row row = DrawRow(options_.rows, &random);
    Question question;
    const int first = static_cast<int>(row.input.size());
    question.prompt = std::move(row.input);
    if (options_.rows.markers) {
      question.prompt.resize(question.prompt.size() + row.symbols.size(),
                             kLast);
    } else {
      question.prompt.insert(question.prompt.end(), row.symbols.begin(),
                             row.symbols.end() - 1);
    }
    for (size_t i = 0; i < row.symbols.size(); ++i) {
      question.places.push_back(first + static_cast<int>(i) -
                                (options_.rows.markers ? 0 : 1));
    }
    question.answer = std::move(row.symbols);
    return question;
  }

  Scores Score(const Marked& marked) const override {
    Rate errors, wrong_rows;
    int64_t row = 0;
    ShareTable table = {"place", "error", {}};
    for (const Marks& marks : marked.answers) {
      wrong_rows.Add(row, !IsRight(marks));
      for (size_t i = 0; i < marks.size(); ++i) {
        const bool wrong = marks[i] == 0;
        errors.Add(row, wrong);
        table.shares[LeastOfRange(static_cast<int64_t>(i) + 1)].Add(row, wrong);
      }
      ++row;
    }
    return ScoresOf({{"error", EstimateOf(wrong_rows)},
                     {"token_error", EstimateOf(errors)}},
                    table);
  }

 private:
  const SelectiveCopiesOptions options_;
  const WordTokenizer tokenizer_ = Symbols();
};

}  // namespace

std::unique_ptr<TrainingTask> MakeSelectiveCopy(
    const SelectiveCopyOptions& options) {
  return std::make_unique<SelectiveCopy>(options);
}

std::unique_ptr<EvaluationTask> MakeSelectiveCopies(
    const SelectiveCopiesOptions& options) {
  return std::make_unique<SelectiveCopies>(options);
}

}  // namespace ordo::model::tasks
