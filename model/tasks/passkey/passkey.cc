#include "model/tasks/passkey/passkey.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "model/tasks/passkey/prompt.h"
#include "model/tasks/shares.h"

namespace ordo::model::tasks::passkey {
namespace {

constexpr int64_t kFirstByte = kEnd + 1;
constexpr int64_t kNumBytes = 256;
constexpr int64_t kTenths = 10;

std::vector<int64_t> TokensOf(std::string_view text) {
  std::vector<int64_t> tokens;
  tokens.reserve(text.size());
  for (const char c : text) {
    tokens.push_back(kFirstByte + static_cast<uint8_t>(c));
  }
  return tokens;
}

class Bytes : public Tokenizer {
 public:
  int vocabulary_size() const override {
    return static_cast<int>(kFirstByte + kNumBytes);
  }

  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    return TokensOf(text);
  }

  // Prompts are ASCII; what is not is written as "?".
  std::string Decode(const std::vector<int64_t>& tokens) const override {
    constexpr int64_t kNumAscii = 128;
    std::string text;
    for (const int64_t token : tokens) {
      if (token == kPad || token == kBegin || token == kEnd) continue;
      const int64_t byte = token - kFirstByte;
      const bool ascii = byte >= 0 && byte < kNumAscii;
      text.push_back(ascii ? static_cast<char>(byte) : '?');
    }
    return text;
  }
};

std::vector<int64_t> AnswerOf(const Hidden& hidden) {
  return TokensOf(absl::StrCat(" ", hidden.key));
}

class Passkey : public TrainingTask {
 public:
  explicit Passkey(const PasskeyOptions& options) : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }
  int row_length() const override {
    const Hidden longest = {options_.max_filler, 0, kMaxKey};
    return static_cast<int>(PromptLengthOf(longest) + 1) +
           static_cast<int>(AnswerOf(longest).size());
  }

  absl::StatusOr<Sample> Generate(uint64_t seed,
                                  uint64_t index) const override {
    base::RandomSequence random(seed, absl::StrCat("data/", index));
    const auto below = [&](int64_t limit) {
      return static_cast<int64_t>(random.Int(static_cast<uint64_t>(limit)));
    };
    Hidden hidden;
    hidden.filler = 1 + below(options_.max_filler);
    hidden.before = below(hidden.filler);
    hidden.key = 1 + below(kMaxKey);
    Sample sample;
    sample.tokens = TokensOf(PromptOf(hidden));
    sample.scored.assign(sample.tokens.size(), 0);
    for (const int64_t token : AnswerOf(hidden)) {
      sample.tokens.push_back(token);
    }
    sample.tokens.push_back(kEnd);
    sample.scored.resize(sample.tokens.size(), 1);
    return sample;
  }

 private:
  const PasskeyOptions options_;
  const Bytes tokenizer_;
};

class PasskeyTests : public EvaluationTask {
 public:
  explicit PasskeyTests(const PasskeyTestsOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return tokenizer_; }

  int64_t size() const override {
    return (options_.max_length - options_.min_length + 1) * options_.samples;
  }

  // The last byte is only said.
  int PromptLength(int64_t index) const override {
    const Hidden hidden = HiddenOf(index);
    return static_cast<int>(PromptLengthOf(hidden) - 1) +
           static_cast<int>(AnswerOf(hidden).size());
  }

  absl::StatusOr<Question> Generate(uint64_t /*seed*/,
                                    int64_t index) const override {
    const Hidden hidden = HiddenOf(index);
    Question question = {TokensOf(PromptOf(hidden)), AnswerOf(hidden)};
    ReadAtPlaces(PromptLength(index), &question);
    return question;
  }

  // Questions of one test share the seed that their keys are drawn from.
  std::string UnitId(uint64_t /*seed*/, int64_t index) const override {
    return absl::StrCat("test ", index % options_.samples);
  }

  Scores Score(const Marked& marked) const override {
    ShareTable table = {"length", "exact_match", {}};
    std::map<std::pair<int64_t, int64_t>, Share> by_depth;
    for (int64_t index = 0; index < size(); ++index) {
      const bool right = IsRight(marked.answers[index]);
      const Hidden hidden = HiddenOf(index);
      const int64_t tenth = kTenths * hidden.before / hidden.filler;
      table.shares[LengthOf(index)].Add(right);
      by_depth[{LengthOf(index), tenth}].Add(right);
    }
    Scores scores = ScoresByLength(table, TrainedLength());
    nlohmann::ordered_json depths = nlohmann::ordered_json::array();
    for (const auto& [place, share] : by_depth) {
      depths.push_back({{"length", place.first},
                        {"tenth", place.second},
                        {"exact_match", share.value()},
                        {"total", share.total}});
    }
    scores.details["depths"] = std::move(depths);
    return scores;
  }

 private:
  int64_t LengthOf(int64_t index) const {
    return options_.min_length + index / options_.samples;
  }

  Hidden HiddenOf(int64_t index) const {
    return BenchmarkQuestion(FillerAt(LengthOf(index), options_.unit),
                             static_cast<uint32_t>(index % options_.samples));
  }

  // The greatest length of whose filler the model has seen as much.
  int64_t TrainedLength() const {
    int64_t length = 0;
    while (length < options_.max_length &&
           FillerAt(length + 1, options_.unit) <= options_.trained_filler) {
      ++length;
    }
    return length;
  }

  const PasskeyTestsOptions options_;
  const Bytes tokenizer_;
};

}  // namespace

int64_t FillerAt(int64_t length, int64_t unit) {
  return unit == 0 ? BenchmarkFiller(length) : length * unit;
}

std::unique_ptr<TrainingTask> MakePasskey(const PasskeyOptions& options) {
  return std::make_unique<Passkey>(options);
}

std::unique_ptr<EvaluationTask> MakePasskeyTests(
    const PasskeyTestsOptions& options) {
  return std::make_unique<PasskeyTests>(options);
}

}  // namespace ordo::model::tasks::passkey
