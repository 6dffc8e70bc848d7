#include "model/tasks/counting.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"
#include "model/tasks/epochs.h"
#include "model/tasks/rate.h"
#include "model/tasks/shares.h"
#include "model/tasks/words.h"

namespace ordo::model::tasks {
namespace {

constexpr int kLetters = 26;
constexpr int kMinOperations = 3;
// Tokens of what sets a variable, which are the most of an operation, and of
// the question with its answer.
constexpr int64_t kOperationTokens = 4;
constexpr int64_t kQuestionTokens = 3;
constexpr int kMaxValue = 10;
constexpr uint64_t kSetWeight = 1;
constexpr uint64_t kRaiseWeight = 7;
// Draws of one operation before the row is given up, and rows before the
// program is: with three operations and the greatest weight of doing nothing
// three in a thousand have a variable.
constexpr int kMaxDraws = 100;
constexpr int kMaxPrograms = 100'000;

// In the order of the words.
constexpr int64_t kPass = 2;
constexpr int64_t kSet = 3;
constexpr int64_t kSemicolon = 4;
constexpr int64_t kRaise = 5;
constexpr int64_t kPrint = 6;
constexpr int64_t kFirstNumber = 7;
constexpr int64_t kFirstLetter = kFirstNumber + kMaxValue + 1;

WordTokenizer Words() {
  std::vector<std::string> words = {"<pad>", "<sta>", "pass;", "=",
                                    ";",     "++;",   "print"};
  for (int value = 0; value <= kMaxValue; ++value) {
    words.push_back(absl::StrCat(value));
  }
  for (int i = 0; i < kLetters; ++i) {
    words.emplace_back(1, static_cast<char>('a' + i));
  }
  return WordTokenizer(Ids::kWords, words);
}

// A variable that has been set.
struct Variable {
  int64_t letter = 0;
  int value = 0;
  // Index of the token that begins what set it last.
  size_t set_at = 0;
};

struct Program {
  // Operations, question and answer.
  std::vector<int64_t> tokens;
  // Where the asked variable was last set.
  size_t set_at = 0;
  // Variables in the order in which they were first set.
  std::vector<Variable> variables = {};
};

void Set(int64_t letter, Program* program) {
  auto& variables = program->variables;
  auto found = std::find_if(
      variables.begin(), variables.end(),
      [&](const Variable& variable) { return variable.letter == letter; });
  if (found == variables.end()) {
    found = variables.insert(found, {letter});
  }
  found->value = 0;
  found->set_at = program->tokens.size();
  for (const int64_t token : {letter, kSet, kFirstNumber, kSemicolon}) {
    program->tokens.push_back(token);
  }
}

// Appends an operation; false where the draw has to be redone.
bool DrawOperation(const CountingOptions& options, base::RandomSequence* random,
                   Program* program) {
  const uint64_t drawn = random->Int(kSetWeight + kRaiseWeight +
                                     static_cast<uint64_t>(options.pass));
  if (drawn < kSetWeight) {
    const uint64_t letter = random->Int(options.variables);
    Set(kFirstLetter + static_cast<int64_t>(letter), program);
    return true;
  }
  if (drawn >= kSetWeight + kRaiseWeight) {
    program->tokens.push_back(kPass);
    return true;
  }
  if (program->variables.empty()) return false;
  Variable& variable =
      program->variables[random->Int(program->variables.size())];
  if (variable.value == kMaxValue) return false;
  ++variable.value;
  program->tokens.push_back(variable.letter);
  program->tokens.push_back(kRaise);
  return true;
}

// Nothing where there is nothing to ask for.
std::optional<Program> TryProgram(const CountingOptions& options,
                                  base::RandomSequence* random) {
  Program program;
  const uint64_t range = options.max_operations - kMinOperations + 1;
  const int num_operations =
      kMinOperations + static_cast<int>(random->Int(range));
  for (int i = 0; i < num_operations; ++i) {
    int draws = 1;
    while (!DrawOperation(options, random, &program)) {
      if (++draws > kMaxDraws) return std::nullopt;
    }
  }
  if (program.variables.empty()) return std::nullopt;
  const Variable& asked =
      program.variables[random->Int(program.variables.size())];
  program.tokens.push_back(kPrint);
  program.tokens.push_back(asked.letter);
  program.tokens.push_back(kFirstNumber + asked.value);
  program.set_at = asked.set_at;
  return program;
}

// Tokens of the longest row there may be.
int LongestRow(const CountingOptions& options) {
  const int64_t whole =
      kOperationTokens * options.max_operations + kQuestionTokens;
  return static_cast<int>(std::min<int64_t>(whole, options.max_tokens));
}

struct Row {
  std::vector<int64_t> tokens;
  // What set the asked variable is among them.
  bool answerable = true;
};

Row DrawRow(const CountingOptions& options, base::RandomSequence* random) {
  for (int i = 0; i < kMaxPrograms; ++i) {
    std::optional<Program> program = TryProgram(options, random);
    if (!program) continue;
    auto& tokens = program->tokens;
    const size_t most = options.max_tokens;
    const size_t cut = tokens.size() > most ? tokens.size() - most : 0;
    tokens.erase(tokens.begin(), tokens.begin() + static_cast<int64_t>(cut));
    return {std::move(tokens), program->set_at >= cut};
  }
  ORDO_CHECK(false) << "no program of " << kMaxPrograms << " sets a variable";
}

class Counting : public TrainingTask {
 public:
  explicit Counting(const CountingTrainingOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int row_length() const override { return LongestRow(options_.programs); }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    const uint64_t row = RowOfSet(seed, index, options_.rows);
    base::RandomSequence random(seed, absl::StrCat("data/", row));
    Sample sample;
    sample.tokens = DrawRow(options_.programs, &random).tokens;
    sample.scored.assign(sample.tokens.size(), 0);
    sample.scored.back() = 1;
    return sample;
  }

 private:
  const CountingTrainingOptions options_;
  const WordTokenizer tokenizer_ = Words();
};

class CountingAnswers : public EvaluationTask {
 public:
  explicit CountingAnswers(const CountingAnswersOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int64_t size() const override { return options_.samples; }
  // Padded, so that rows can be batched before they are made. The padding is
  // after the answer's place, which does not see it.
  int PromptLength(int64_t /*index*/) const override {
    return LongestRow(options_.programs) - 1;
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    Question question;
    question.prompt = Draw(seed, index).tokens;
    question.answer = {question.prompt.back()};
    question.prompt.pop_back();
    question.places = {static_cast<int>(question.prompt.size()) - 1};
    question.prompt.resize(PromptLength(index), kPad);
    return question;
  }

  Scores Score(const Marked& marked) const override {
    Rate errors, unanswerable;
    ShareTable table = {"answer", "error", {}};
    for (int64_t index = 0; index < size(); ++index) {
      const Row row = Draw(marked.seed, index);
      const bool wrong = !IsRight(marked.answers[index]);
      errors.Add(index, wrong);
      unanswerable.Add(index, !row.answerable);
      table.shares[row.tokens.back() - kFirstNumber].Add(index, wrong);
    }
    return ScoresOf({{"error", EstimateOf(errors)},
                     {"unanswerable", EstimateOf(unanswerable)}},
                    table);
  }

 private:
  Row Draw(uint64_t seed, int64_t index) const {
    base::RandomSequence random(seed, absl::StrCat("counting/", index));
    return DrawRow(options_.programs, &random);
  }

  const CountingAnswersOptions options_;
  const WordTokenizer tokenizer_ = Words();
};

}  // namespace

std::unique_ptr<TrainingTask> MakeCounting(
    const CountingTrainingOptions& options) {
  return std::make_unique<Counting>(options);
}

std::unique_ptr<EvaluationTask> MakeCountingAnswers(
    const CountingAnswersOptions& options) {
  return std::make_unique<CountingAnswers>(options);
}

}  // namespace ordo::model::tasks
