#include "model/tasks/ruoss/ruoss.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "model/tasks/ruoss/items.h"
#include "model/tasks/shares.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks::ruoss {
namespace {

WordTokenizer Symbols() {
  return WordTokenizer(Ids::kWords, {"0", "1", "2", "3", "4", "+", "-", "*",
                                     "(", ")", "x", "=", "_"});
}

class Ruoss : public TrainingTask {
 public:
  explicit Ruoss(const RuossOptions& options)
      : options_(options), kind_(KindOf(options.task)) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  // The last token is not read.
  int row_length() const override {
    return kind_.num_inputs(options_.max_length) +
           kind_.num_outputs(options_.max_length) + 1;
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence of_length(
        seed, absl::StrCat("length/", index / options_.rows_per_length));
    const int length = 1 + static_cast<int>(of_length.Int(options_.max_length));
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    Item item = kind_.draw(length, &random);
    Sample sample;
    const size_t num_inputs = item.input.size();
    sample.tokens = std::move(item.input);
    sample.tokens.resize(num_inputs + item.output.size() + 1, kEmpty);
    sample.scored.assign(num_inputs + 1, 0);
    sample.scored.resize(sample.tokens.size(), 1);
    sample.targets.assign(num_inputs + 1, kEmpty);
    sample.targets.insert(sample.targets.end(), item.output.begin(),
                          item.output.end());
    return sample;
  }

 private:
  const RuossOptions options_;
  const Kind kind_;
  const WordTokenizer tokenizer_ = Symbols();
};

class RuossLengths : public EvaluationTask {
 public:
  explicit RuossLengths(const RuossLengthsOptions& options)
      : options_(options), kind_(KindOf(options.task)) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }

  int64_t size() const override {
    const int64_t num_lengths =
        (options_.max_length - options_.min_length) / options_.length_step + 1;
    return num_lengths * options_.samples;
  }

  int PromptLength(int64_t index) const override {
    const int length = LengthOf(index);
    return kind_.num_inputs(length) + kind_.num_outputs(length);
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const int length = LengthOf(index);
    // The stream is named by the length, so other lengths change nothing.
    base::RandomSequence random(
        seed, absl::StrCat("ruoss/", options_.task, "/", length, "/",
                           index % options_.samples));
    Item item = kind_.draw(length, &random);
    Question question;
    const size_t num_inputs = item.input.size();
    question.prompt = std::move(item.input);
    question.prompt.resize(num_inputs + item.output.size(), kEmpty);
    for (size_t i = 0; i < item.num_measured; ++i) {
      question.places.push_back(static_cast<int>(num_inputs + i));
      question.answer.push_back(item.output[i]);
    }
    return question;
  }

  double ItemScore(const Marks& marks) const override {
    return ShareRight(marks);
  }

  Scores Score(const tasks::Marked& marked) const override {
    ShareTable table = {"length", "accuracy", {}};
    for (int64_t index = 0; index < size(); ++index) {
      for (const uint8_t mark : marked.answers[index]) {
        table.shares[LengthOf(index)].Add(index, mark != 0);
      }
    }
    return ScoresByLength(table, options_.trained_length);
  }

 private:
  int LengthOf(int64_t index) const {
    return options_.min_length +
           static_cast<int>(index / options_.samples) * options_.length_step;
  }

  const RuossLengthsOptions options_;
  const Kind kind_;
  const WordTokenizer tokenizer_ = Symbols();
};

}  // namespace

std::unique_ptr<TrainingTask> MakeRuoss(const RuossOptions& options) {
  return std::make_unique<Ruoss>(options);
}

std::unique_ptr<EvaluationTask> MakeRuossLengths(
    const RuossLengthsOptions& options) {
  return std::make_unique<RuossLengths>(options);
}

}  // namespace ordo::model::tasks::ruoss
