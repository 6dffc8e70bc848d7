#include "model/text/store/facts.h"

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::model::text::store {
namespace {

TEST(FactsOfText, CountsWordsAndEndsOfLines) {
  EXPECT_EQ(FactsOfText("").num_words, 0);
  EXPECT_EQ(FactsOfText("one two").num_words, 2);
  EXPECT_EQ(FactsOfText(" one\ttwo\n\nthree \n").num_words, 6);
  EXPECT_EQ(FactsOfText("h\xC3\xA9 \n").num_words, 2);
}

TEST(FactsOfText, WordsLieBetweenWhiteSpaceOfUnicode) {
  // No-break, ideographic and narrow no-break spaces; U+0085 ends no line.
  EXPECT_EQ(FactsOfText("un\xC2\xA0mot").num_words, 2);
  EXPECT_EQ(FactsOfText("\xE4\xB8\x80\xE3\x80\x80\xE4\xBA\x8C").num_words, 2);
  EXPECT_EQ(FactsOfText("a\xE2\x80\xAF\xC2\x85\nb\xC2\xA0").num_words, 3);
  // Its last byte is that of U+00A0.
  EXPECT_EQ(FactsOfText("voil\xC3\xA0 tout").num_words, 2);
}

TEST(FactsOfText, CountsBytes) {
  EXPECT_EQ(FactsOfText("h\xC3\xA9").num_bytes, 3);
}

TEST(FactsOfText, TheHashBeginsTheDigest) {
  // SHA-256 of "abc": ba7816bf 8f01cfea ...
  EXPECT_EQ(FactsOfText("abc").hash, 0xba7816bf8f01cfeau);
}

TEST(FactsOfTokens, TellsTokensApart) {
  EXPECT_EQ(FactsOfTokens({1, 2}).hash, FactsOfTokens({1, 2}).hash);
  EXPECT_NE(FactsOfTokens({1, 2}).hash, FactsOfTokens({2, 1}).hash);
  EXPECT_EQ(FactsOfTokens({1, 2}).num_bytes, 0);
}

int CountHeldOut(const HeldOut& held_out, int num_documents) {
  int count = 0;
  for (int i = 0; i < num_documents; ++i) {
    const Facts facts = FactsOfText("document " + std::to_string(i));
    if (IsHeldOut(held_out, facts)) ++count;
  }
  return count;
}

TEST(IsHeldOut, TakesTheShare) {
  EXPECT_EQ(CountHeldOut({1, 0}, 100), 0);
  EXPECT_EQ(CountHeldOut({1, 1000000}, 100), 100);
  // 200 of 2000 with a deviation of 13.4: five of them.
  EXPECT_NEAR(CountHeldOut({1, 100000}, 2000), 200, 67);
}

TEST(IsHeldOut, ASmallerShareIsPartOfALarger) {
  for (int i = 0; i < 500; ++i) {
    const Facts facts = FactsOfText(std::to_string(i));
    if (IsHeldOut({3, 50000}, facts)) {
      EXPECT_TRUE(IsHeldOut({3, 200000}, facts)) << i;
    }
  }
}

TEST(IsHeldOut, AnotherSeedHoldsOutOthers) {
  int same = 0;
  for (int i = 0; i < 500; ++i) {
    const Facts facts = FactsOfText(std::to_string(i));
    if (IsHeldOut({1, 500000}, facts) == IsHeldOut({2, 500000}, facts)) ++same;
  }
  // 250 with a deviation of 11.2: five of them.
  EXPECT_NEAR(same, 250, 56);
}

}  // namespace
}  // namespace ordo::model::text::store
