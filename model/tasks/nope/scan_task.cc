#include "model/tasks/nope/scan_task.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "model/tasks/epochs.h"
#include "model/tasks/nope/scan.h"
#include "model/tasks/shares.h"
#include "model/tasks/word_rows.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks::nope {
namespace {

WordTokenizer MakeTokenizer() {
  return WordTokenizer(Ids::kMarksAndWords, ScanWords());
}

CommandRange RangeOf(const ScanOptions& options) {
  return CommandsOf(options.min_actions, options.max_actions);
}

// Command `index` of those of the range, which come one by one in an order of
// the seed.
int64_t CommandOf(const CommandRange& range, uint64_t seed, uint64_t index) {
  return range.first + static_cast<int64_t>(RowOfSet(
                           seed, index, static_cast<uint64_t>(range.size())));
}

class Scan : public TrainingTask {
 public:
  explicit Scan(const ScanOptions& options) : range_(RangeOf(options)) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int row_length() const override {
    return kScanPromptWords + ActionCounts(range_).back() + 1;
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    const Item item = CommandAt(CommandOf(range_, seed, index));
    return SampleOfWords(tokenizer_, item.prompt, item.answer);
  }

 private:
  const CommandRange range_;
  const WordTokenizer tokenizer_ = MakeTokenizer();
};

class ScanAnswers : public EvaluationTask {
 public:
  explicit ScanAnswers(const ScanAnswersOptions& options)
      : options_(options), actions_(ActionCounts(RangeOf(options.commands))) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }

  int64_t size() const override {
    return static_cast<int64_t>(actions_.size()) * options_.samples;
  }

  // Padded behind the actions, whose end mark is only said.
  int PromptLength(int64_t index) const override {
    return kScanPromptWords + ActionsAt(index);
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const Item item = CommandAt(CommandAtIndex(seed, index));
    return QuestionOfWords(tokenizer_, item.prompt, item.answer,
                           PromptLength(index));
  }

  std::string UnitId(uint64_t seed, int64_t index) const override {
    return absl::StrCat("command ", CommandAtIndex(seed, index));
  }

  Scores Score(const Marked& marked) const override {
    ShareTable table = {"actions", "exact_match", {}};
    for (int64_t index = 0; index < size(); ++index) {
      // As UnitId: a command that is asked twice tells nothing new.
      table.shares[ActionsAt(index)].Add(CommandAtIndex(marked.seed, index),
                                         IsRight(marked.answers[index]));
    }
    return ScoresByLength(table, options_.trained_actions);
  }

 private:
  int ActionsAt(int64_t index) const {
    return actions_[static_cast<size_t>(index / options_.samples)];
  }

  int64_t CommandAtIndex(uint64_t seed, int64_t index) const {
    const int actions = ActionsAt(index);
    return CommandOf(CommandsOf(actions, actions), seed,
                     static_cast<uint64_t>(index % options_.samples));
  }

  const ScanAnswersOptions options_;
  const std::vector<int> actions_;
  const WordTokenizer tokenizer_ = MakeTokenizer();
};

}  // namespace

std::unique_ptr<TrainingTask> MakeScan(const ScanOptions& options) {
  return std::make_unique<Scan>(options);
}

std::unique_ptr<EvaluationTask> MakeScanAnswers(
    const ScanAnswersOptions& options) {
  return std::make_unique<ScanAnswers>(options);
}

}  // namespace ordo::model::tasks::nope
