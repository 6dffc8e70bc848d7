#include "model/tasks/flip_flop.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "model/tasks/rate.h"
#include "model/tasks/shares.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks {
namespace {

constexpr int64_t kWrite = 0;
constexpr int64_t kRead = 1;
constexpr int64_t kIgnore = 2;
constexpr int64_t kZero = 3;

WordTokenizer Symbols() {
  return WordTokenizer(Ids::kWords, {"w", "r", "i", "0", "1"});
}

// Halves of millionths, so that what ignores leave can be split evenly.
constexpr uint64_t kWhole = 2'000'000;

int64_t DrawInstruction(uint64_t ignore, base::RandomSequence* random) {
  const uint64_t drawn = random->Int(kWhole);
  if (drawn < ignore) return kIgnore;
  return drawn < ignore + (kWhole - ignore) / 2 ? kWrite : kRead;
}

std::vector<int64_t> DrawString(const FlipFlopOptions& options,
                                base::RandomSequence* random) {
  const uint64_t ignore = 2 * static_cast<uint64_t>(Millionths(options.ignore));
  const int num_pairs = options.length / 2;
  std::vector<int64_t> symbols;
  int64_t written = kZero;
  for (int pair = 0; pair < num_pairs; ++pair) {
    const int64_t instruction = pair == 0 ? kWrite
                                : pair == num_pairs - 1
                                    ? kRead
                                    : DrawInstruction(ignore, random);
    int64_t bit = written;
    if (instruction != kRead) {
      bit = kZero + static_cast<int64_t>(random->Int(2));
    }
    if (instruction == kWrite) written = bit;
    symbols.push_back(instruction);
    symbols.push_back(bit);
  }
  return symbols;
}

class FlipFlop : public TrainingTask {
 public:
  explicit FlipFlop(const FlipFlopOptions& options) : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int row_length() const override { return options_.length; }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    Sample sample;
    sample.tokens = DrawString(options_, &random);
    sample.scored.assign(sample.tokens.size(), options_.full_loss ? 1 : 0);
    for (size_t t = 0; t < sample.tokens.size(); t += 2) {
      if (sample.tokens[t] == kRead) sample.scored[t + 1] = 1;
    }
    return sample;
  }

 private:
  const FlipFlopOptions options_;
  const WordTokenizer tokenizer_ = Symbols();
};

class FlipFlopReads : public EvaluationTask {
 public:
  explicit FlipFlopReads(const FlipFlopReadsOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int64_t size() const override { return options_.samples; }
  // The last bit is only said.
  int PromptLength(int64_t /*index*/) const override {
    return options_.strings.length - 1;
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("flip_flop/", index));
    Question question;
    question.prompt = DrawString(options_.strings, &random);
    for (size_t t = 0; t < question.prompt.size(); t += 2) {
      if (question.prompt[t] != kRead) continue;
      question.places.push_back(static_cast<int>(t));
      question.answer.push_back(question.prompt[t + 1]);
    }
    question.prompt.pop_back();
    return question;
  }

  double ItemScore(const Marks& marks) const override {
    return ShareRight(marks);
  }

  Scores Score(const Marked& marked) const override {
    Rate errors, wrong_rows;
    ShareTable table = {"distance", "error", {}};
    for (int64_t index = 0; index < size(); ++index) {
      const Question question = Generate(marked.seed, index).value();
      const Marks& marks = marked.answers[index];
      wrong_rows.Add(index, !IsRight(marks));
      size_t next = 0;
      int64_t written_at = 0;
      for (int64_t t = 0; t < PromptLength(index); t += 2) {
        if (question.prompt[t] == kWrite) written_at = t;
        if (question.prompt[t] != kRead) continue;
        const bool wrong = marks[next++] == 0;
        errors.Add(index, wrong);
        table.shares[LeastOfRange((t - written_at) / 2)].Add(index, wrong);
      }
    }
    Scores scores = ScoresOf(
        {{"error", EstimateOf(errors)}, {"wrong_rows", EstimateOf(wrong_rows)}},
        table);
    scores.details["reads"] = errors.total();
    return scores;
  }

 private:
  const FlipFlopReadsOptions options_;
  const WordTokenizer tokenizer_ = Symbols();
};

}  // namespace

std::unique_ptr<TrainingTask> MakeFlipFlop(const FlipFlopOptions& options) {
  return std::make_unique<FlipFlop>(options);
}

std::unique_ptr<EvaluationTask> MakeFlipFlopReads(
    const FlipFlopReadsOptions& options) {
  return std::make_unique<FlipFlopReads>(options);
}

}  // namespace ordo::model::tasks
