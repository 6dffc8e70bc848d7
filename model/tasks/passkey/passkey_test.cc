#include "model/tasks/passkey/passkey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/digest/digest.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"
#include "model/text/tokenizers/bpe_tokenizer.h"
#include "model/text/tokenizers/byte_tokenizer.h"
#include "model/text/tokenizers/testing/bpe_json.h"

namespace ordo::model::tasks::passkey {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Passkey, ScoresTheKeyAndTheEndAfterTheQuestion) {
  const auto task = MakePasskey({100});
  for (uint64_t index = 0; index < 20; ++index) {
    const Sample sample = task->Generate(1, index).value();
    const auto first =
        std::find(sample.scored.begin(), sample.scored.end(), 1) -
        sample.scored.begin();
    const std::vector<int64_t> asked(sample.tokens.begin(),
                                     sample.tokens.begin() + first);
    const std::vector<int64_t> said(sample.tokens.begin() + first,
                                    sample.tokens.end());
    EXPECT_EQ(std::count(sample.scored.begin(), sample.scored.end(), 1),
              static_cast<int64_t>(said.size()));
    EXPECT_EQ(said.back(), kEnd);
    const std::string key = task->tokenizer().Decode(said);
    EXPECT_THAT(key, StartsWith(" "));
    const std::string prompt = task->tokenizer().Decode(asked);
    EXPECT_THAT(prompt, EndsWith("The pass key is"));
    EXPECT_THAT(prompt,
                HasSubstr("\nThe pass key is" + key + ". Remember it."));
  }
}

// Up to four characters of filler, the key before any of them.
TEST(Passkey, FillerPlacesAndKeysAreUniform) {
  const auto task = MakePasskey({4});
  std::map<size_t, int64_t> filler, before, keys;
  for (uint64_t index = 0; index < 600; ++index) {
    const std::string text =
        task->tokenizer().Decode(task->Generate(1, index).value().tokens);
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    ASSERT_EQ(lines.size(), 5u);
    const size_t size = lines[1].size() + lines[3].size();
    ++filler[size];
    if (size == 4) ++before[lines[1].size()];
    // "The pass key is K. Remember it." in ten equal ranges.
    ++keys[std::stoul(lines[2].substr(16)) * 10 / 50000];
  }
  testing::ExpectEven(4, filler);
  EXPECT_EQ(filler.begin()->first, 1u);
  testing::ExpectEven(4, before);
  EXPECT_EQ(before.begin()->first, 0u);
  testing::ExpectEven(10, keys);
}

TEST(Passkey, LongestRowsAreAsLongAsIsSaid) {
  const auto task = MakePasskey({3});
  int longest = 0;
  for (uint64_t index = 0; index < 200; ++index) {
    const Sample sample = task->Generate(1, index).value();
    longest = std::max(longest, static_cast<int>(sample.tokens.size()));
  }
  EXPECT_EQ(longest, task->row_length());
}

// Made with a second implementation, in Python, of stream and prompt, which
// gives frozen rows of addition and prompts of the benchmark too.
TEST(Passkey, FirstRowsOfSeedOneAreFrozen) {
  const struct {
    size_t filler;
    size_t before;
    const char* key;
    const char* sha256;
  } rows[] = {
      {111, 2, " 23034", "83825b9766bcdc21"},
      {2230, 1290, " 23464", "40a405892c5a45db"},
      {1676, 1313, " 19700", "49d01fb4b8fe24b9"},
      {960, 213, " 21479", "05e606d2e9d8915d"},
  };
  const auto task = MakePasskey({3072});
  for (uint64_t index = 0; index < 4; ++index) {
    const std::string text =
        task->tokenizer().Decode(task->Generate(1, index).value().tokens);
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[1].size(), rows[index].before);
    EXPECT_EQ(lines[1].size() + lines[3].size(), rows[index].filler);
    EXPECT_THAT(lines[4], EndsWith(rows[index].key));
    EXPECT_EQ(base::Sha256Hex(text).substr(0, 16), rows[index].sha256);
  }
}

// Those of model/text/tokenizers: the ids that checkpoints were trained with.
TEST(Passkey, TokensAreBytes) {
  const auto task = MakePasskey({3});
  EXPECT_EQ(task->tokenizer().vocabulary_size(), 260);
  const auto tokens = task->tokenizer().Encode("a 7\n");
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(*tokens, (std::vector<int64_t>{101, 36, 59, 14}));
  EXPECT_EQ(task->tokenizer().Decode({kBegin, 101, 36, 59, kEnd}), "a 7");
}

// Key 43568, from the benchmark's seed 0; its place is 2732 of 3072.
TEST(PasskeyTests, AskTheQuestionsOfTheBenchmarkWhateverTheSeed) {
  PasskeyTestsOptions options;
  options.max_length = 1;
  const auto task = MakePasskeyTests(options);
  EXPECT_EQ(task->size(), 20);
  const Question question = task->Generate(1, 0).value();
  EXPECT_EQ(task->tokenizer().Decode(question.answer), " 43568");
  EXPECT_EQ(task->PromptLength(0), 3319 + 5);
  ASSERT_EQ(question.places.size(), 6u);
  EXPECT_EQ(question.places[0], 3318);
  EXPECT_EQ(question.places[5], 3323);
  EXPECT_EQ(task->Generate(2, 0).value().prompt, question.prompt);
}

// Each length has its first question right.
TEST(PasskeyTests, AreDrawnTogetherByTheirNumberInALength) {
  PasskeyTestsOptions options;
  options.min_length = 2;
  options.max_length = 4;
  options.samples = 4;
  const auto task = MakePasskeyTests(options);
  EXPECT_EQ(task->UnitId(1, 3), "test 3");
  EXPECT_EQ(task->UnitId(2, 4 + 3), task->UnitId(1, 3));
  EXPECT_NE(task->UnitId(1, 4 + 2), task->UnitId(1, 3));
}

TEST(PasskeyTests, ScoreByLengthAndDepth) {
  PasskeyTestsOptions options;
  options.min_length = 2;
  options.max_length = 4;
  options.unit = 50;
  options.samples = 4;
  options.trained_filler = 149;
  const auto task = MakePasskeyTests(options);
  Marked marked;
  for (int64_t index = 0; index < task->size(); ++index) {
    Marks marks(task->Generate(1, index).value().answer.size(), 1);
    if (index % 4 != 0) marks.back() = 0;
    marked.answers.push_back(marks);
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0.25);
  EXPECT_DOUBLE_EQ(scores.metrics.at("trained_mean"), 0.25);
  // Of four tests: a second length, of the same ones, tells nothing new.
  EXPECT_NEAR(scores.standard_errors.at("score"), 0.25, 1e-12);
  EXPECT_EQ(scores.details["shares"][0]["units"], 4);
  EXPECT_EQ(scores.details["trained_length"], 2);
  double total = 0, right = 0;
  for (const auto& depth : scores.details["depths"]) {
    EXPECT_LT(depth["tenth"].get<int>(), 10);
    total += depth["total"].get<double>();
    right += depth["total"].get<double>() * depth["exact_match"].get<double>();
  }
  EXPECT_DOUBLE_EQ(total, 12);
  EXPECT_DOUBLE_EQ(right, 3);
}

// Three lengths of four depths: 0, 25, 50 and 75 per cent of the filler.
TEST(PasskeyTests, DepthsAreStepsOfTheFillerAndATableOfTheirOwn) {
  PasskeyTestsOptions options;
  options.min_length = 2;
  options.max_length = 4;
  options.unit = 50;
  options.depths = 4;
  options.samples = 2;
  const auto task = MakePasskeyTests(options);
  ASSERT_EQ(task->size(), 24);
  // The second length has 150 characters, and each of its tests one key.
  const auto first = task->Generate(1, 8).value();
  for (int64_t depth = 0; depth < 4; ++depth) {
    const Question question = task->Generate(1, 8 + 2 * depth).value();
    EXPECT_EQ(question.answer, first.answer);
    const std::string text = task->tokenizer().Decode(question.prompt);
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(static_cast<int64_t>(lines[1].size()), 150 * depth / 4);
    EXPECT_EQ(lines[1].size() + lines[3].size(), 150u);
    EXPECT_EQ(task->UnitId(1, 8 + 2 * depth), "test 0");
  }
  Marked marked;
  for (int64_t index = 0; index < task->size(); ++index) {
    const size_t size = task->Generate(1, index)->answer.size();
    // Those at half of the filler are wrong.
    marked.answers.emplace_back(size, index / 2 % 4 == 2 ? 0 : 1);
  }
  const Scores scores = task->Score(marked);
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0.75);
  EXPECT_EQ(scores.details.count("depths"), 0u);
  const auto& cells = scores.details["cells"];
  ASSERT_EQ(cells.size(), 12u);
  EXPECT_EQ(cells[6], nlohmann::ordered_json({{"depth", "50"},
                                              {"length", 3},
                                              {"recall", 0.0},
                                              {"items", 2},
                                              {"units", 2},
                                              {"standard_error", 0.0}}));
  EXPECT_EQ(cells[7]["depth"], "75");
  EXPECT_EQ(cells[7]["recall"], 1.0);
}

// Words and blanks as Llama-2's tokenizer has them: a blank before any text,
// and one token for each byte otherwise.
class LeadingBlank : public text::tokenizers::TextTokenizer {
 public:
  int vocabulary_size() const override { return bytes_->vocabulary_size(); }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view text) const override {
    return bytes_->Encode(absl::StrCat(" ", std::string(text)));
  }
  std::string Decode(const std::vector<int64_t>& tokens) const override {
    return bytes_->Decode(tokens);
  }
  const std::string& digest() const override { return digest_; }
  std::optional<int64_t> begin_token() const override { return kBegin; }
  std::optional<int64_t> end_token() const override { return kEnd; }

 private:
  const std::unique_ptr<TextTokenizer> bytes_ =
      text::tokenizers::MakeByteTokenizer();
  const std::string digest_ = "leading blank";
};

absl::Status GoOn() { return absl::OkStatus(); }

PasskeyTestsOptions Short() {
  PasskeyTestsOptions options;
  options.max_length = 2;
  options.unit = 40;
  options.samples = 3;
  return options;
}

TEST(PasskeyTests, WhereTheTokenizerPutsBlanksTheKeysTokensAreAskedFor) {
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto task,
      OpenPasskeyTests(
          Short(), PromptTokens(std::make_unique<LeadingBlank>(), true), GoOn));
  EXPECT_EQ(task->measure(), Measure::kRight);
  EXPECT_EQ(task->data_fingerprint(), "leading blank");
  ASSERT_EQ(task->size(), 6);
  Marked marked;
  for (int64_t index = 0; index < task->size(); ++index) {
    const Question question = task->Generate(1, index).value();
    EXPECT_EQ(static_cast<int>(question.prompt.size()),
              task->PromptLength(index));
    EXPECT_EQ(task->PromptLength(index) % 32, 0);
    EXPECT_EQ(task->AnswerLength(index), 0);
    EXPECT_EQ(question.prompt[0], kBegin);
    const std::string prompt = task->tokenizer().Decode(question.prompt);
    EXPECT_THAT(prompt, StartsWith(" There is an important"));
    const std::string key = task->tokenizer().Decode(question.answer);
    EXPECT_THAT(prompt, HasSubstr("What is the pass key? The pass key is" +
                                  key.substr(0, key.size() - 1)));
    EXPECT_EQ(question.places.size(), key.size());
    marked.answers.emplace_back(key.size(), index == 0 ? 0 : 1);
  }
  const Scores scores = task->Score(marked);
  EXPECT_NEAR(scores.metrics.at("score"), 5.0 / 6, 1e-12);
  // 40 characters more, with keys that may have a digit more or less.
  const auto& tokens = scores.details["prompt_tokens"];
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[1]["length"], 2);
  EXPECT_NEAR(tokens[1]["mean"].get<double>() - tokens[0]["mean"].get<double>(),
              40, 2);
}

TEST(PasskeyTests, OtherwiseTheNumberThatIsSaidCounts) {
  auto tokenizer = text::tokenizers::ParseBpeTokenizer(
      text::tokenizers::testing::BpeJson({"i s", "4 3"}).dump(), {});
  ORDO_ASSERT_OK(tokenizer);
  ORDO_ASSERT_OK_AND_ASSIGN(
      const auto task,
      OpenPasskeyTests(Short(), PromptTokens(*std::move(tokenizer), false),
                       GoOn));
  EXPECT_EQ(task->measure(), Measure::kText);
  EXPECT_EQ(task->AnswerLength(0), 10);
  const Question question = task->Generate(1, 0).value();
  EXPECT_TRUE(question.answer.empty());
  EXPECT_TRUE(question.places.empty());
  EXPECT_EQ(static_cast<int>(question.prompt.size()), task->PromptLength(0));
  EXPECT_THAT(task->tokenizer().Decode(question.prompt),
              EndsWith("The pass key is"));
  std::vector<std::string> keys;
  for (int64_t index = 0; index < task->size(); ++index) {
    const std::string prompt =
        task->tokenizer().Decode(task->Generate(1, index).value().prompt);
    const std::vector<std::string> lines = absl::StrSplit(prompt, '\n');
    keys.push_back(lines[2].substr(16, lines[2].find('.') - 16));
  }
  Marked marked;
  marked.seed = 7;
  marked.texts = {" " + keys[0] + ". Remem", "\n " + keys[1], keys[2] + "1",
                  "the " + keys[3],          keys[4] + " ",   ""};
  const Scores scores = task->Score(marked);
  ASSERT_EQ(scores.items.size(), 6u);
  std::vector<double> right;
  for (const ScoredItem& item : scores.items) right.push_back(item.score);
  EXPECT_EQ(right, (std::vector<double>{1, 1, 0, 0, 1, 0}));
  EXPECT_EQ(scores.items[4].id, "7-4");
  EXPECT_EQ(scores.items[4].unit, "test 1");
  EXPECT_EQ(scores.items[4].output, keys[4] + " ");
  EXPECT_DOUBLE_EQ(scores.metrics.at("score"), 0.5);
  // Of three tests, whose first two are right at one length or at both.
  EXPECT_NEAR(scores.standard_errors.at("score"), std::sqrt(1.0 / 12), 1e-12);
}

TEST(PasskeyTests, CountingTokensEndsWhenItIsToldTo) {
  const auto stop = [] { return absl::CancelledError("enough"); };
  EXPECT_THAT(
      OpenPasskeyTests(
          Short(), PromptTokens(std::make_unique<LeadingBlank>(), true), stop),
      StatusIs(absl::StatusCode::kCancelled, HasSubstr("enough")));
}

}  // namespace
}  // namespace ordo::model::tasks::passkey
