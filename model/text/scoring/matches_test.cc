#include "model/text/scoring/matches.h"

#include "gtest/gtest.h"

namespace ordo::model::text::scoring {
namespace {

TEST(MatchesTest, CasePunctuationArticlesAndBlanksDoNotCount) {
  EXPECT_EQ(NormalizeAnswer("  The U.S.A., an\tOLD  friend!\n"),
            "usa old friend");
  EXPECT_EQ(NormalizeAnswer("Theatre of a man"), "theatre of man");
}

TEST(MatchesTest, PunctuationGoesBeforeArticles) {
  EXPECT_EQ(NormalizeAnswer("t.h.e end"), "end");
  EXPECT_EQ(NormalizeAnswer("a-b"), "ab");
}

TEST(MatchesTest, ArticlesEndWhereLettersDo) {
  EXPECT_EQ(NormalizeAnswer("\xE2\x80\x9CThe end\xE2\x80\x9D"),
            "\xE2\x80\x9C end\xE2\x80\x9D");
  EXPECT_EQ(NormalizeAnswer("a\xC3\xA9"), "a\xC3\xA9");
}

TEST(MatchesTest, OneReferenceIsEnoughForAnExactMatch) {
  EXPECT_TRUE(IsExactMatch("The Answer.", {"no", "answer"}));
  EXPECT_FALSE(IsExactMatch("answers", {"no", "answer"}));
  EXPECT_FALSE(IsExactMatch("answer", {}));
}

TEST(MatchesTest, TwoTextsWithoutWordsMatchButHaveNoF1) {
  EXPECT_TRUE(IsExactMatch("", {"the"}));
  EXPECT_EQ(WordF1("", {"the"}), 0);
}

TEST(MatchesTest, F1IsOfTheWordsInCommon) {
  // 2 of 3 predicted, 2 of 4 wanted.
  EXPECT_DOUBLE_EQ(WordF1("red green blue", {"green red white black"}),
                   2 * (2.0 / 3) * 0.5 / (2.0 / 3 + 0.5));
  EXPECT_EQ(WordF1("red", {"green"}), 0);
}

TEST(MatchesTest, AWordCountsAsOftenAsBothHaveIt) {
  // 2 of 3, 2 of 2.
  EXPECT_DOUBLE_EQ(WordF1("no no no", {"no no"}), 0.8);
}

TEST(MatchesTest, TheBestReferenceCounts) {
  EXPECT_DOUBLE_EQ(WordF1("red green", {"blue", "red green", "red"}), 1);
}

}  // namespace
}  // namespace ordo::model::text::scoring
