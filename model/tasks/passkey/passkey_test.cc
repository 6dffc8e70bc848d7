#include "model/tasks/passkey/passkey.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/tasks/testing/drawn.h"

namespace ordo::model::tasks::passkey {
namespace {

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

}  // namespace
}  // namespace ordo::model::tasks::passkey
