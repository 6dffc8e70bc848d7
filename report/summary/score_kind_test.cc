#include "report/summary/score_kind.h"

#include "gtest/gtest.h"

namespace ordo::report::summary {
namespace {

TEST(ScoreKindTest, ErrorsAreSharesOfWhichLessIsBetter) {
  EXPECT_EQ(KindOf("error").better, "less is better");
  EXPECT_TRUE(KindOf("error").is_share);
  EXPECT_EQ(KindOf("grid_mean").better, "more is better");
  EXPECT_TRUE(KindOf("grid_mean").is_share);
  EXPECT_EQ(KindOf("perplexity").better, "less is better");
  EXPECT_FALSE(KindOf("perplexity").is_share);
}

TEST(ScoreKindTest, TheLengthIsNoPartOfTheKind) {
  EXPECT_TRUE(KindOf("token_error_512").is_share);
  EXPECT_TRUE(KindOf("error_longer").is_share);
  EXPECT_EQ(KindOf("batch_mean_perplexity_1024").better, "less is better");
  EXPECT_EQ(KindOf("largest_95").better, "more is better");
  EXPECT_TRUE(KindOf("f1").is_share);
}

TEST(ScoreKindTest, OnlySomePerplexitiesAreByToken) {
  EXPECT_TRUE(KindOf("perplexity_512").is_by_token);
  EXPECT_TRUE(KindOf("batch_mean_perplexity").is_by_token);
  EXPECT_FALSE(KindOf("word_perplexity_512").is_by_token);
  EXPECT_FALSE(KindOf("bits_per_byte").is_by_token);
}

TEST(ScoreKindTest, OfOtherNamesNothingIsKnown) {
  EXPECT_EQ(KindOf("").better, "");
  EXPECT_EQ(KindOf("512").better, "");
  EXPECT_FALSE(KindOf("terror").is_share);
  EXPECT_EQ(KindOf("unanswerable_8").better, "");
  EXPECT_TRUE(KindOf("unanswerable_8").is_share);
}

TEST(ScoreKindTest, TheDirectionStandsInBrackets) {
  EXPECT_EQ(BetterText("error"), " (less is better)");
  EXPECT_EQ(BetterText("unanswerable"), "");
}

}  // namespace
}  // namespace ordo::report::summary
