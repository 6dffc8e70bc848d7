#include "model/text/tokenizers/split_pattern.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::tokenizers {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Pieces = std::vector<std::string_view>;

// As a tokenizer.json of Llama-3 has it.
constexpr char kLlama3Pattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Pieces Split(const std::string& pattern, std::string_view text,
             SplitRule rule = {}) {
  const auto compiled = SplitPattern::Compile(pattern, rule);
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

// What the Python package tokenizers 0.23.3 makes of "-a--b-c-", cut at "-".
TEST(SplitPattern, TreatsMatchesAsTheLibraryTokenizersDoes) {
  struct Case {
    SplitBehavior behavior;
    Pieces plain;
    Pieces inverted;
  };
  const Pieces single = {"-", "a", "-", "-", "b", "-", "c", "-"};
  const Pieces runs = {"-", "a", "--", "b", "-", "c", "-"};
  const Pieces to_previous = {"-", "a-", "-", "b-", "c-"};
  const Pieces to_next = {"-a", "-", "-b", "-c", "-"};
  const Case cases[] = {
      {SplitBehavior::kIsolated, single, single},
      {SplitBehavior::kRemoved, {"a", "b", "c"}, {"-", "-", "-", "-", "-"}},
      {SplitBehavior::kMergedWithPrevious, to_previous, to_next},
      {SplitBehavior::kMergedWithNext, to_next, to_previous},
      {SplitBehavior::kContiguous, runs, runs},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Split("-", "-a--b-c-", {c.behavior, false}), c.plain);
    EXPECT_EQ(Split("-", "-a--b-c-", {c.behavior, true}), c.inverted);
  }
}

// As above, of "a\u00E9x-xxb" cut at "x*".
TEST(SplitPattern, EmptyMatchesAreMatches) {
  const std::string_view text = "a\xC3\xA9x-xxb";
  EXPECT_THAT(Split("x*", text, {SplitBehavior::kRemoved, true}),
              ElementsAre("x", "xx"));
  EXPECT_THAT(Split("x*", text, {SplitBehavior::kMergedWithPrevious, false}),
              ElementsAre("a", "\xC3\xA9x", "-xx", "b"));
  EXPECT_THAT(Split("x*", text, {SplitBehavior::kMergedWithNext, false}),
              ElementsAre("a", "\xC3\xA9", "x-", "xxb"));
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

TEST(SplitPattern, BlanksBesideANamedClassAreThoseOfUnicode) {
  EXPECT_THAT(Split(R"([[:alpha:]\s]+)",
                    "1a \xE1\xA0\x8E"
                    "b\xC2\x85"
                    "2"),
              ElementsAre("1", "a ", "\xE1\xA0\x8E", "b\xC2\x85", "2"));
}

TEST(SplitPattern, RefusesWhatWouldLoseCharacters) {
  for (const char* pattern : {R"(a\Kb)", R"((?=ab\K))", R"((?<=a\K)b)"}) {
    EXPECT_THAT(
        SplitPattern::Compile(pattern).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"('\K')")))
        << pattern;
  }
}

TEST(SplitPattern, ALongRunMayBeGoneBackOver) {
  const std::string text = std::string(11000000, ' ') + "x";
  EXPECT_THAT(Split(kLlama3Pattern, text),
              ElementsAre(text.substr(0, 10999999), " x"));
}

TEST(SplitPattern, RefusesToNestAsDeepAsATextIsLong) {
  const auto pattern = SplitPattern::Compile("(?:a|b)*c");
  ASSERT_TRUE(pattern.ok());
  Pieces pieces;
  EXPECT_THAT(
      pattern->Split(std::string(2000000, 'a') + "-c", &pieces),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("heap limit")));
}

TEST(SplitPattern, RefusesTextThatItWouldTakeForeverFor) {
  const auto pattern = SplitPattern::Compile("(a+)+$");
  ASSERT_TRUE(pattern.ok());
  Pieces pieces;
  EXPECT_THAT(pattern->Split(std::string(40, 'a') + "b", &pieces),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("split text at byte 0"),
                             HasSubstr("break up its long runs"))));
}

}  // namespace
}  // namespace ordo::model::text::tokenizers
