#include "model/tasks/retrieval/retrieval.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"
#include "model/tasks/retrieval/fitted.h"
#include "model/tasks/retrieval/items.h"
#include "model/tasks/retrieval/recall.h"
#include "model/text/tokenizers/byte_tokenizer.h"

namespace ordo::model::tasks::retrieval {
namespace {

// Of a mean over all of RULER's tasks.
constexpr double kSupported = 0.856;

std::vector<RulerKind> KindsOf(const std::string& task) {
  std::vector<RulerKind> kinds;
  for (const RulerKind& kind : RulerKinds()) {
    if (task == "all" || task == kind.name) kinds.push_back(kind);
  }
  ORDO_CHECK(!kinds.empty()) << task << " is none of RULER's tasks";
  return kinds;
}

// Text and back; what is asked is ASCII, which every byte tokenizer has.
class Bytes {
 public:
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // Rows of prompt, answer and end.
  Sample SampleOf(const Item& item) const {
    Sample sample;
    sample.tokens = Encode(item.prompt);
    sample.scored.assign(sample.tokens.size(), 0);
    for (const int64_t token : AnswerOf(item)) sample.tokens.push_back(token);
    sample.scored.resize(sample.tokens.size(), 1);
    return sample;
  }

  Question QuestionOf(const Item& item) const {
    Question question = {Encode(item.prompt), AnswerOf(item)};
    question.references = item.references;
    return question;
  }

 private:
  std::vector<int64_t> Encode(const std::string& text) const {
    auto tokens = tokenizer_->Encode(text);
    ORDO_CHECK(tokens.ok()) << tokens.status();
    return *std::move(tokens);
  }

  std::vector<int64_t> AnswerOf(const Item& item) const {
    std::vector<int64_t> answer = Encode(item.answer);
    answer.push_back(kEnd);
    return answer;
  }

  const std::unique_ptr<text::tokenizers::TextTokenizer> tokenizer_ =
      text::tokenizers::MakeByteTokenizer();
};

// Questions by byte, or in the tokens of a file.
class Asked {
 public:
  explicit Asked(std::optional<PromptTokens> tokens)
      : tokens_(std::move(tokens)) {}

  const Tokenizer& tokenizer() const {
    if (tokens_.has_value()) return tokens_->tokenizer();
    return bytes_.tokenizer();
  }
  std::optional<int64_t> end_token() const {
    if (tokens_.has_value()) return tokens_->tokenizer().end_token();
    return kEnd;
  }
  // Of the file.
  std::string fingerprint() const {
    return tokens_.has_value() ? tokens_->tokenizer().digest() : "";
  }

  absl::StatusOr<Question> QuestionOf(
      const FittedSize& size,
      const std::function<Item(int64_t bytes)>& draw) const {
    if (tokens_.has_value()) return FittedQuestion(*tokens_, size, draw);
    return bytes_.QuestionOf(draw(size.tokens));
  }

 private:
  const std::optional<PromptTokens> tokens_;
  const Bytes bytes_;
};

int64_t DrawLength(int64_t least, int64_t most, base::RandomSequence* random) {
  return least + static_cast<int64_t>(
                     random->Int(static_cast<uint64_t>(most - least + 1)));
}

class Ruler : public TrainingTask {
 public:
  explicit Ruler(const RulerOptions& options)
      : options_(options), kinds_(KindsOf(options.task)) {}

  const Tokenizer& tokenizer() const override { return bytes_.tokenizer(); }
  int row_length() const override {
    return static_cast<int>(options_.max_length);
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    const RulerKind& kind = kinds_[random.Int(kinds_.size())];
    const int64_t length =
        DrawLength(options_.min_length, options_.max_length, &random);
    return bytes_.SampleOf(kind.draw(length - kind.answer_bytes - 1, &random));
  }

 private:
  const RulerOptions options_;
  const std::vector<RulerKind> kinds_;
  const Bytes bytes_;
};

class RulerTests : public EvaluationTask {
 public:
  RulerTests(const RulerTestsOptions& options,
             std::optional<PromptTokens> tokens)
      : options_(options),
        kinds_(KindsOf(options.task)),
        asked_(std::move(tokens)) {
    for (int64_t length = options.min_length; length <= options.max_length;
         length *= 2) {
      lengths_.push_back(length);
    }
  }

  const Tokenizer& tokenizer() const override { return asked_.tokenizer(); }
  std::optional<int64_t> end_token() const override {
    return asked_.end_token();
  }
  std::string data_fingerprint() const override { return asked_.fingerprint(); }

  int64_t size() const override {
    return static_cast<int64_t>(kinds_.size() * lengths_.size()) *
           options_.samples;
  }

  int PromptLength(int64_t index) const override {
    return static_cast<int>(LengthOf(index)) - AnswerLength(index);
  }

  int AnswerLength(int64_t index) const override {
    return KindOf(index).output_tokens;
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const RulerKind& kind = KindOf(index);
    const auto draw = [&](int64_t bytes) {
      // The stream is named by kind and length, so others change nothing.
      base::RandomSequence random(
          seed, absl::StrCat("ruler/", std::string(kind.name), "/",
                             LengthOf(index), "/", index % options_.samples));
      return kind.draw(bytes, &random);
    };
    return asked_.QuestionOf(
        {PromptLength(index), kind.min_length - kind.output_tokens}, draw);
  }

  double ItemScore(const Marks& marks) const override {
    return ShareRight(marks);
  }

  Scores Score(const Marked& marked) const override {
    std::vector<std::string> names;
    for (const RulerKind& kind : kinds_) names.emplace_back(kind.name);
    RecallTable table("task", std::move(names), lengths_);
    for (int64_t index = 0; index < size(); ++index) {
      const size_t cell = CellOf(index);
      table.cells[cell / lengths_.size()][cell % lengths_.size()].Add(
          index, ItemScore(marked.answers[index]));
    }
    double supported = 0;
    for (size_t i = 0; i < lengths_.size(); ++i) {
      if (table.OfLength(i).value < kSupported) break;
      supported = static_cast<double>(lengths_[i]);
    }
    Scores scores = ScoresOfRecall(table, options_.trained_length);
    scores.metrics["supported_length"] = supported;
    return scores;
  }

 private:
  size_t CellOf(int64_t index) const {
    return static_cast<size_t>(index / options_.samples);
  }
  const RulerKind& KindOf(int64_t index) const {
    return kinds_[CellOf(index) / lengths_.size()];
  }
  int64_t LengthOf(int64_t index) const {
    return lengths_[CellOf(index) % lengths_.size()];
  }

  const RulerTestsOptions options_;
  const std::vector<RulerKind> kinds_;
  std::vector<int64_t> lengths_;
  const Asked asked_;
};

class Needle : public TrainingTask {
 public:
  explicit Needle(const NeedleOptions& options) : options_(options) {}

  const Tokenizer& tokenizer() const override { return bytes_.tokenizer(); }
  int row_length() const override {
    return static_cast<int>(options_.max_length);
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    const int depth = static_cast<int>(random.Int(101));
    const int64_t length =
        DrawLength(options_.min_length, options_.max_length, &random);
    return bytes_.SampleOf(
        DrawNeedle(length - kNeedleAnswerBytes - 1, depth, &random));
  }

 private:
  const NeedleOptions options_;
  const Bytes bytes_;
};

// Number `step` of so many even steps, rounded; the last is `most`.
int64_t StepOf(int64_t least, int64_t most, int64_t step, int64_t steps) {
  if (steps == 1) return most;
  const int64_t gaps = steps - 1;
  return least + (2 * (most - least) * step + gaps) / (2 * gaps);
}

class NeedleGrid : public EvaluationTask {
 public:
  NeedleGrid(const NeedleGridOptions& options,
             std::optional<PromptTokens> tokens)
      : options_(options), asked_(std::move(tokens)) {}

  const Tokenizer& tokenizer() const override { return asked_.tokenizer(); }
  std::optional<int64_t> end_token() const override {
    return asked_.end_token();
  }
  std::string data_fingerprint() const override { return asked_.fingerprint(); }

  int64_t size() const override {
    return int64_t{options_.lengths} * options_.depths * options_.samples;
  }

  int PromptLength(int64_t index) const override {
    return static_cast<int>(LengthOf(CellOf(index) / options_.depths)) -
           kNeedleOutputTokens;
  }

  int AnswerLength(int64_t /*index*/) const override {
    return kNeedleOutputTokens;
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    const int64_t depth = DepthOf(CellOf(index) % options_.depths);
    const auto draw = [&](int64_t bytes) {
      base::RandomSequence random(
          seed, absl::StrCat("needle/", PromptLength(index), "/", depth, "/",
                             index % options_.samples));
      return DrawNeedle(bytes, static_cast<int>(depth), &random);
    };
    return asked_.QuestionOf(
        {PromptLength(index), kNeedleMinLength - kNeedleOutputTokens}, draw);
  }

  double ItemScore(const Marks& marks) const override {
    return ShareRight(marks);
  }

  Scores Score(const Marked& marked) const override {
    std::vector<std::string> depths;
    for (int i = 0; i < options_.depths; ++i) {
      depths.push_back(absl::StrCat(DepthOf(i)));
    }
    std::vector<int64_t> lengths;
    for (int i = 0; i < options_.lengths; ++i) lengths.push_back(LengthOf(i));
    RecallTable table("depth", std::move(depths), std::move(lengths));
    for (int64_t index = 0; index < size(); ++index) {
      const int64_t cell = CellOf(index);
      table.cells[cell % options_.depths][cell / options_.depths].Add(
          index, ItemScore(marked.answers[index]));
    }
    return ScoresOfRecall(table, options_.trained_length);
  }

 private:
  int64_t CellOf(int64_t index) const { return index / options_.samples; }
  int64_t LengthOf(int64_t step) const {
    return StepOf(options_.min_length, options_.max_length, step,
                  options_.lengths);
  }
  int64_t DepthOf(int64_t step) const {
    return StepOf(0, 100, step, options_.depths);
  }

  const NeedleGridOptions options_;
  const Asked asked_;
};

}  // namespace

std::unique_ptr<TrainingTask> MakeRuler(const RulerOptions& options) {
  return std::make_unique<Ruler>(options);
}

std::unique_ptr<EvaluationTask> MakeRulerTests(
    const RulerTestsOptions& options, std::optional<PromptTokens> tokens) {
  return std::make_unique<RulerTests>(options, std::move(tokens));
}

std::unique_ptr<TrainingTask> MakeNeedle(const NeedleOptions& options) {
  return std::make_unique<Needle>(options);
}

std::unique_ptr<EvaluationTask> MakeNeedleGrid(
    const NeedleGridOptions& options, std::optional<PromptTokens> tokens) {
  return std::make_unique<NeedleGrid>(options, std::move(tokens));
}

}  // namespace ordo::model::tasks::retrieval
