#include "model/tasks/nope/nope.h"

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "model/tasks/epochs.h"
#include "model/tasks/nope/items.h"
#include "model/tasks/shares.h"
#include "model/tasks/word_rows.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks::nope {
namespace {

WordTokenizer TokenizerOf(const Kind& kind) {
  return WordTokenizer(Ids::kMarksAndWords, kind.words());
}

class Nope : public TrainingTask {
 public:
  explicit Nope(const NopeOptions& options)
      : options_(options), kind_(KindOf(options.task)) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int row_length() const override {
    return kind_.num_words(options_.max_length) + 1;
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    const uint64_t number = RowOfSet(seed, index, options_.rows);
    base::RandomSequence random(seed, absl::StrCat("data/", number));
    const int length = DrawLength(&random);
    const Item item = kind_.draw(length, &random);
    return SampleOfWords(tokenizer_, item.prompt, item.answer);
  }

 private:
  int DrawLength(base::RandomSequence* random) const {
    uint64_t sum = 0;
    for (int n = options_.min_length; n <= options_.max_length; ++n) {
      sum += kind_.weight(n);
    }
    uint64_t drawn = random->Int(sum);
    int length = options_.min_length;
    for (; drawn >= static_cast<uint64_t>(kind_.weight(length)); ++length) {
      drawn -= kind_.weight(length);
    }
    return length;
  }

  const NopeOptions options_;
  const Kind kind_;
  const WordTokenizer tokenizer_ = TokenizerOf(kind_);
};

class NopeLengths : public EvaluationTask {
 public:
  explicit NopeLengths(const NopeLengthsOptions& options)
      : options_(options), kind_(KindOf(options.task)) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }

  int64_t size() const override {
    return int64_t{options_.max_length - options_.min_length + 1} *
           options_.samples;
  }

  // Padded behind the answer, whose end mark is only said.
  int PromptLength(int64_t index) const override {
    return kind_.num_words(LengthOf(index));
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const int length = LengthOf(index);
    // The stream is named by the length, so other lengths change nothing.
    base::RandomSequence random(
        seed, absl::StrCat("nope/", options_.task, "/", length, "/",
                           index % options_.samples));
    const Item item = kind_.draw(length, &random);
    return QuestionOfWords(tokenizer_, item.prompt, item.answer,
                           PromptLength(index));
  }

  Scores Score(const Marked& marked) const override {
    ShareTable table = {"length", "exact_match", {}};
    for (int64_t index = 0; index < size(); ++index) {
      table.shares[LengthOf(index)].Add(index, IsRight(marked.answers[index]));
    }
    return ScoresByLength(table, options_.trained_length);
  }

 private:
  int LengthOf(int64_t index) const {
    return options_.min_length + static_cast<int>(index / options_.samples);
  }

  const NopeLengthsOptions options_;
  const Kind kind_;
  const WordTokenizer tokenizer_ = TokenizerOf(kind_);
};

}  // namespace

std::unique_ptr<TrainingTask> MakeNope(const NopeOptions& options) {
  return std::make_unique<Nope>(options);
}

std::unique_ptr<EvaluationTask> MakeNopeLengths(
    const NopeLengthsOptions& options) {
  return std::make_unique<NopeLengths>(options);
}

}  // namespace ordo::model::tasks::nope
