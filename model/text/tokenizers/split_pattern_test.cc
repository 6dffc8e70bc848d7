#include "model/text/tokenizers/split_pattern.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Pieces = std::vector<std::string_view>;

// As a tokenizer.json of Llama-3 has it.
constexpr char kLlama3Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Pieces Split(const std::string& pattern, std::string_view text) {
  const auto compiled = SplitPattern::Compile(pattern);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  Pieces pieces;
  const absl::Status status = compiled->Split(text, &pieces);
  EXPECT_TRUE(status.ok()) << status;
  return pieces;
}

TEST(SplitPattern, Gpt2KeepsABlankWithTheWordThatFollows) {
  EXPECT_THAT(
      Split(kGpt2Pattern, "Hello world's  3 42x!?"),
      ElementsAre("Hello", " world", "'s", " ", " 3", " 42", "x", "!?"));
}

TEST(SplitPattern, Gpt2LeavesTheLastBlankOfARunToWhatFollows) {
  EXPECT_THAT(Split(kGpt2Pattern, "a   b\n\n c  "),
              ElementsAre("a", "  ", " b", "\n\n", " c", "  "));
}

TEST(SplitPattern, Gpt2KnowsSuffixesInLowerCaseOnly) {
  EXPECT_THAT(Split(kGpt2Pattern, "we'll WE'LL"),
              ElementsAre("we", "'ll", " WE", "'", "LL"));
}

TEST(SplitPattern, Llama3TakesThreeDigitsAndSuffixesInAnyCase) {
  EXPECT_THAT(Split(kLlama3Pattern, "WE'LL 12345"),
              ElementsAre("WE", "'LL", " ", "123", "45"));
  EXPECT_THAT(Split(kLlama3Pattern, "(word.\n\n  x"),
              ElementsAre("(word", ".\n\n", " ", " x"));
}

TEST(SplitPattern, ClassesAreThoseOfUnicode) {
  // Letters beyond ASCII, an Arabic digit, a no-break space.
  EXPECT_THAT(Split(kGpt2Pattern, "\xC3\xA9t\xC3\xA9 \xD9\xA3"),
              ElementsAre("\xC3\xA9t\xC3\xA9", " \xD9\xA3"));
  EXPECT_THAT(Split(kGpt2Pattern,
                    "a\xC2\xA0\xC2\xA0"
                    "b"),
              ElementsAre("a", "\xC2\xA0", "\xC2\xA0", "b"));
}

TEST(SplitPattern, BlanksAreThoseOfUnicode) {
  // U+180E was one once; U+0085 and U+3000 are.
  for (const char* letter : {"\xE1\xA0\x8E", "\xE2\x80\x8B"}) {
    const std::string text = "x" + std::string(letter);
    for (const char* pattern : {R"(\s)", R"([\s])", R"(\S+)", R"([^\s]+)"}) {
      EXPECT_THAT(Split(pattern, text), ElementsAre(text)) << pattern;
    }
  }
  EXPECT_THAT(Split(R"(\s+)", "x\xC2\x85\xE3\x80\x80\t\v y"),
              ElementsAre("x", "\xC2\x85\xE3\x80\x80\t\v ", "y"));
  EXPECT_THAT(Split(R"([^\s\]]+)", "x]\xE1\x9A\x80y"),
              ElementsAre("x", "]\xE1\x9A\x80", "y"));
}

TEST(SplitPattern, WhatDoesNotMatchIsAPieceToo) {
  EXPECT_THAT(Split("b+", "abbcab"), ElementsAre("a", "bb", "ca", "b"));
  EXPECT_THAT(Split("x", "abc"), ElementsAre("abc"));
  EXPECT_THAT(Split("x", ""), ElementsAre());
}

TEST(SplitPattern, EmptyMatchesGoOnBehindAWholeCharacter) {
  EXPECT_THAT(Split("x*", "a\xC3\xA9x"), ElementsAre("a", "\xC3\xA9", "x"));
}

TEST(SplitPattern, ALongRunIsOnePiece) {
  const std::string text(3000000, 'a');
  EXPECT_THAT(Split(kGpt2Pattern, text), ElementsAre(text));
  const std::string blanks(3000000, ' ');
  EXPECT_THAT(Split(kGpt2Pattern, blanks), ElementsAre(blanks));
}

TEST(EscapePattern, MatchesTheTextItself) {
  const std::string text = "<|a.b*(\xC3\xA9)\\Q 1|>\n";
  EXPECT_THAT(Split(EscapePattern(text), "x" + text + "y"),
              ElementsAre("x", text, "y"));
}

TEST(SplitPattern, SaysWhereAPatternIsWrong) {
  EXPECT_THAT(SplitPattern::Compile("a(b").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'a(b' is wrong at byte 3")));
}

TEST(SplitPattern, RefusesToCutCharacters) {
  EXPECT_THAT(SplitPattern::Compile("\\C").status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(SplitPattern, RefusesTextThatItWouldTakeForeverFor) {
  const auto pattern = SplitPattern::Compile("(a+)+$");
  ASSERT_TRUE(pattern.ok());
  Pieces pieces;
  EXPECT_THAT(pattern->Split(std::string(40, 'a') + "b", &pieces),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("split text at byte 0")));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
