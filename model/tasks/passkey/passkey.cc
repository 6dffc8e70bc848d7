#include "model/tasks/passkey/passkey.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"
#include "base/status/status.h"
#include "model/tasks/passkey/prompt.h"
#include "model/tasks/rate.h"
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

// Everything but tokens.
class PasskeyTests : public EvaluationTask {
 public:
  explicit PasskeyTests(const PasskeyTestsOptions& options)
      : options_(options) {}

  int64_t size() const override {
    return (options_.max_length - options_.min_length + 1) * num_depths() *
           options_.samples;
  }

  // Questions of one test share the seed that their keys are drawn from.
  std::string UnitId(uint64_t /*seed*/, int64_t index) const override {
    return absl::StrCat("test ", TestOf(index));
  }

 protected:
  int64_t LengthOf(int64_t index) const {
    return options_.min_length + index / options_.samples / num_depths();
  }

  Hidden HiddenOf(int64_t index) const {
    Hidden hidden = BenchmarkQuestion(FillerAt(LengthOf(index), options_.unit),
                                      static_cast<uint32_t>(TestOf(index)));
    if (options_.depths > 0) {
      hidden.before = DepthOf(index) * hidden.filler / options_.depths;
    }
    return hidden;
  }

  Scores ScoresOfRights(const std::vector<bool>& rights) const {
    ShareTable table = {"length", "exact_match", {}};
    std::map<std::pair<int64_t, int64_t>, Rate> by_depth;
    for (int64_t index = 0; index < size(); ++index) {
      const bool right = rights[static_cast<size_t>(index)];
      const Hidden hidden = HiddenOf(index);
      const int64_t depth = options_.depths > 0
                                ? DepthOf(index)
                                : kTenths * hidden.before / hidden.filler;
      const int64_t unit = TestOf(index);
      table.shares[LengthOf(index)].Add(unit, right);
      by_depth[{LengthOf(index), depth}].Add(unit, right);
    }
    Scores scores = ScoresByLength(table, TrainedLength());
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const auto& [place, share] : by_depth) {
      nlohmann::ordered_json row;
      if (options_.depths > 0) {
        row = {{"depth", absl::StrCat(100 * place.second / options_.depths)},
               {"length", place.first},
               {"recall", share.value()},
               {"items", share.total()}};
      } else {
        row = {{"length", place.first},
               {"tenth", place.second},
               {"exact_match", share.value()},
               {"total", share.total()}};
      }
      AddError(EstimateOf(share), share.num_units(), &row);
      rows.push_back(std::move(row));
    }
    scores.details[options_.depths > 0 ? "cells" : "depths"] = std::move(rows);
    return scores;
  }

 private:
  int64_t num_depths() const { return std::max(1, options_.depths); }

  int64_t TestOf(int64_t index) const { return index % options_.samples; }

  int64_t DepthOf(int64_t index) const {
    return index / options_.samples % num_depths();
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
};

std::vector<bool> RightOnes(const std::vector<Marks>& answers) {
  std::vector<bool> rights;
  for (const Marks& marks : answers) rights.push_back(IsRight(marks));
  return rights;
}

class TestsInBytes : public PasskeyTests {
 public:
  using PasskeyTests::PasskeyTests;

  const Tokenizer& tokenizer() const override { return bytes_.tokenizer(); }

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

  Scores Score(const Marked& marked) const override {
    return ScoresOfRights(RightOnes(marked.answers));
  }

 private:
  const Bytes bytes_;
};

// The number that a text begins with behind blanks.
std::string NumberSaid(const std::string& text) {
  const auto begin =
      std::find_if_not(text.begin(), text.end(), absl::ascii_isspace);
  return {begin, std::find_if_not(begin, text.end(), absl::ascii_isdigit)};
}

class TestsInTokens : public PasskeyTests {
 public:
  TestsInTokens(const PasskeyTestsOptions& options, PromptTokens tokens)
      : PasskeyTests(options), tokens_(std::move(tokens)) {}

  // Before anything else.
  absl::Status Count(const std::function<absl::Status()>& keep_going) {
    ORDO_ASSIGN_OR_RETURN(const auto word, tokens_.Encode(kWord));
    ORDO_ASSIGN_OR_RETURN(const auto key, tokens_.Encode(kKey));
    ORDO_ASSIGN_OR_RETURN(const auto both,
                          tokens_.Encode(absl::StrCat(kWord, " ", kKey)));
    std::vector<int64_t> joined = word;
    joined.insert(joined.end(), key.begin(), key.end());
    puts_blanks_ = joined == both;
    for (int64_t index = 0; index < size(); ++index) {
      ORDO_RETURN_IF_ERROR(keep_going());
      ORDO_ASSIGN_OR_RETURN(const Question question, Encoded(index));
      const auto prompt = static_cast<int>(question.prompt.size());
      Prompts& prompts = prompts_of_length_[LengthOf(index)];
      prompts.tokens += prompt;
      ++prompts.count;
      if (!puts_blanks_) {
        prompt_lengths_.push_back(prompt);
        continue;
      }
      // The last token is only said. Rows of many lengths have few shapes.
      const int row = prompt + static_cast<int>(question.answer.size()) - 1;
      prompt_lengths_.push_back((row + kRowStep - 1) / kRowStep * kRowStep);
    }
    return absl::OkStatus();
  }

  const Tokenizer& tokenizer() const override { return tokens_.tokenizer(); }
  std::optional<int64_t> end_token() const override {
    return tokens_.tokenizer().end_token();
  }
  std::string data_fingerprint() const override {
    return tokens_.tokenizer().digest();
  }
  Measure measure() const override {
    return puts_blanks_ ? Measure::kRight : Measure::kText;
  }
  int PromptLength(int64_t index) const override {
    return prompt_lengths_[static_cast<size_t>(index)];
  }
  int AnswerLength(int64_t /*index*/) const override {
    return puts_blanks_ ? 0 : kMostTokensSaid;
  }

  absl::StatusOr<Question> Generate(uint64_t /*seed*/,
                                    int64_t index) const override {
    ORDO_ASSIGN_OR_RETURN(Question question, Encoded(index));
    if (puts_blanks_) {
      ReadAtPlaces(PromptLength(index), &question);
    } else {
      question.answer.clear();
    }
    return question;
  }

  Scores Score(const Marked& marked) const override {
    std::vector<bool> rights =
        puts_blanks_ ? RightOnes(marked.answers) : RightTexts(marked.texts);
    Scores scores = ScoresOfRights(rights);
    auto& lengths = scores.details["prompt_tokens"];
    for (const auto& [length, prompts] : prompts_of_length_) {
      lengths.push_back(
          {{"length", length},
           {"mean", prompts.tokens / static_cast<double>(prompts.count)}});
    }
    if (puts_blanks_) return scores;
    for (int64_t index = 0; index < size(); ++index) {
      const auto i = static_cast<size_t>(index);
      ScoredItem& item = scores.items.emplace_back();
      item.id = ItemId(marked.seed, index);
      item.unit = UnitId(marked.seed, index);
      item.score = rights[i] ? 1 : 0;
      item.output = marked.texts[i];
    }
    return scores;
  }

 private:
  // As in a prompt.
  static constexpr char kWord[] = "is";
  static constexpr char kKey[] = "43568";
  // A blank, five digits, and what ends or spoils them; more blanks before.
  static constexpr int kMostTokensSaid = 10;
  static constexpr int kRowStep = 32;

  // Those of one length.
  struct Prompts {
    double tokens = 0;
    int64_t count = 0;
  };

  // Without places.
  absl::StatusOr<Question> Encoded(int64_t index) const {
    const Hidden hidden = HiddenOf(index);
    Question question;
    ORDO_ASSIGN_OR_RETURN(question.prompt, tokens_.Begin(PromptOf(hidden)));
    ORDO_ASSIGN_OR_RETURN(question.answer,
                          tokens_.Encode(absl::StrCat(hidden.key)));
    return question;
  }

  std::vector<bool> RightTexts(const std::vector<std::string>& texts) const {
    std::vector<bool> rights;
    for (int64_t index = 0; index < size(); ++index) {
      rights.push_back(NumberSaid(texts[static_cast<size_t>(index)]) ==
                       absl::StrCat(HiddenOf(index).key));
    }
    return rights;
  }

  const PromptTokens tokens_;
  // Text behind other text has a blank before it, whether or not it says so.
  bool puts_blanks_ = false;
  std::vector<int> prompt_lengths_;
  std::map<int64_t, Prompts> prompts_of_length_;
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
  return std::make_unique<TestsInBytes>(options);
}

absl::StatusOr<std::unique_ptr<EvaluationTask>> OpenPasskeyTests(
    const PasskeyTestsOptions& options, PromptTokens tokens,
    const std::function<absl::Status()>& keep_going) {
  auto tests = std::make_unique<TestsInTokens>(options, std::move(tokens));
  ORDO_RETURN_IF_ERROR(tests->Count(keep_going));
  return tests;
}

}  // namespace ordo::model::tasks::passkey
