#include "model/tasks/shares.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace ordo::model::tasks {
namespace {

TEST(Share, IsWhatCountsOfAll) {
  Share share;
  EXPECT_DOUBLE_EQ(share.value(), 0);
  for (const bool counts : {true, false, false, true, false}) share.Add(counts);
  EXPECT_DOUBLE_EQ(share.value(), 0.4);
  EXPECT_EQ(share.total, 5);
}

TEST(ScoresOf, WritesTheSameTableInEachForm) {
  ShareTable table = {"length", "exact_match", {{8, {1, 4}}, {16, {2, 4}}}};
  const Scores scores = ScoresOf({{"mean", 0.375}}, table);
  EXPECT_EQ(scores.csv,
            "length,exact_match,count,total\n8,0.25,1,4\n16,0.5,2,4\n");
  EXPECT_EQ(scores.markdown,
            "|length|exact_match in per cent|of|\n|---|---|---|\n"
            "|8|25.0|4|\n|16|50.0|4|\n\n- mean: 0.375\n");
  EXPECT_EQ(scores.details["shares"][1]["length"], 16);
  EXPECT_DOUBLE_EQ(scores.details["shares"][1]["exact_match"].get<double>(),
                   0.5);
}

// Of length 8 a quarter is right and of 16 and 32 a half and all.
TEST(ScoresByLength, SplitsByTheTrainedLength) {
  const ShareTable table = {
      "length", "accuracy", {{8, {1, 4}}, {16, {1, 2}}, {32, {3, 3}}}};
  EXPECT_EQ(
      ScoresByLength(table, 8).metrics,
      (std::map<std::string, double>{{"score", 0.75}, {"trained_mean", 0.25}}));
  EXPECT_EQ(ScoresByLength(table, 32).metrics.count("score"), 0u);
  EXPECT_EQ(ScoresByLength(table, 0).metrics.count("trained_mean"), 0u);
}

TEST(LeastOfRange, IsThePowerOfTwoBelow) {
  EXPECT_EQ(LeastOfRange(1), 1);
  EXPECT_EQ(LeastOfRange(3), 2);
  EXPECT_EQ(LeastOfRange(4), 4);
  EXPECT_EQ(LeastOfRange(255), 128);
}

TEST(Millionths, Rounds) {
  EXPECT_EQ(Millionths(0.1), 100000);
  EXPECT_EQ(Millionths(0.8), 800000);
  EXPECT_EQ(Millionths(0.98), 980000);
  EXPECT_EQ(Millionths(1), 1000000);
  EXPECT_EQ(Millionths(0), 0);
}

}  // namespace
}  // namespace ordo::model::tasks
