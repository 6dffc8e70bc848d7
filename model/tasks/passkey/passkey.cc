#include "model/tasks/passkey/passkey.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"
#include "model/tasks/passkey/prompt.h"
#include "model/tasks/shares.h"
#include "model/text/tokenizers/byte_tokenizer.h"

namespace ordo::model::tasks::passkey {
namespace {

constexpr int64_t kTenths = 10;

// Text and back; what is asked is ASCII, which every byte tokenizer has.
class Bytes {
 public:
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  std::vector<int64_t> PromptTokensOf(const Hidden& hidden) const {
    return Encode(PromptOf(hidden));
  }
  std::vector<int64_t> AnswerOf(const Hidden& hidden) const {
    return Encode(absl::StrCat(" ", hidden.key));
  }

 private:
  std::vector<int64_t> Encode(const std::string& text) const {
    auto tokens = tokenizer_->Encode(text);
    ORDO_CHECK(tokens.ok()) << tokens.status();
    return *std::move(tokens);
  }

  const std::unique_ptr<text::tokenizers::TextTokenizer> tokenizer_ =
      text::tokenizers::MakeByteTokenizer();
};

class Passkey : public TrainingTask {
 public:
  explicit Passkey(const PasskeyOptions& options) : options_(options) {}

  const Tokenizer& tokenizer() const override { return bytes_.tokenizer(); }
  int row_length() const override {
    const Hidden longest = {options_.max_filler, 0, kMaxKey};
    return static_cast<int>(PromptLengthOf(longest) + 1) +
           static_cast<int>(bytes_.AnswerOf(longest).size());
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
    sample.tokens = bytes_.PromptTokensOf(hidden);
    sample.scored.assign(sample.tokens.size(), 0);
    for (const int64_t token : bytes_.AnswerOf(hidden)) {
      sample.tokens.push_back(token);
    }
    sample.tokens.push_back(kEnd);
    sample.scored.resize(sample.tokens.size(), 1);
    return sample;
  }

 private:
  const PasskeyOptions options_;
  const Bytes bytes_;
};

class PasskeyTests : public EvaluationTask {
 public:
  explicit PasskeyTests(const PasskeyTestsOptions& options)
      : options_(options) {}

  const Tokenizer& tokenizer() const override { return bytes_.tokenizer(); }

  int64_t size() const override {
    return (options_.max_length - options_.min_length + 1) * options_.samples;
  }

  // The last byte is only said.
  int PromptLength(int64_t index) const override {
    const Hidden hidden = HiddenOf(index);
    return static_cast<int>(PromptLengthOf(hidden) - 1) +
           static_cast<int>(bytes_.AnswerOf(hidden).size());
  }

  absl::StatusOr<Question> Generate(uint64_t /*seed*/,
                                    int64_t index) const override {
    const Hidden hidden = HiddenOf(index);
    Question question = {bytes_.PromptTokensOf(hidden),
                         bytes_.AnswerOf(hidden)};
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
  const Bytes bytes_;
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
