#include "model/tasks/shares.h"

#include <cstdint>
#include <map>
#include <string>

#include "gtest/gtest.h"
#include "model/tasks/rate.h"

namespace ordo::model::tasks {
namespace {

// So many items of their own, of which the first count.
Rate Of(int64_t count, int64_t total, int64_t first_unit = 0) {
  Rate rate;
  for (int64_t i = 0; i < total; ++i) rate.Add(first_unit + i, i < count);
  return rate;
}

TEST(ScoresOf, WritesTheSameTableInEachForm) {
  const ShareTable table = {
      "length", "exact_match", {{8, Of(1, 4)}, {16, Of(1, 1)}}};
  const Scores scores =
      ScoresOf({{"error", EstimateOf(Of(1, 4))}, {"other", {0.375}}}, table);
  EXPECT_EQ(scores.csv,
            "length,exact_match,count,total,standard_error\n"
            "8,0.25,1,4,0.25\n16,1,1,1,\n");
  EXPECT_EQ(scores.markdown,
            "|length|exact_match in per cent ± standard error|of|\n"
            "|---|---|---|\n|8|25.0 ± 25.0|4|\n|16|100.0|1|\n\n"
            "- error: 0.25 (standard error 0.25)\n- other: 0.375\n");
  EXPECT_EQ(scores.metrics,
            (std::map<std::string, double>{{"error", 0.25}, {"other", 0.375}}));
  EXPECT_EQ(scores.standard_errors.size(), 1u);
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("error"), 0.25);
  EXPECT_EQ(scores.sampled.at("error").units, 4);
  EXPECT_EQ(scores.sampled.at("error").items, 4);
  EXPECT_EQ(scores.sampled.count("other"), 0u);
  const auto& rows = scores.details["shares"];
  EXPECT_EQ(rows[1]["length"], 16);
  EXPECT_DOUBLE_EQ(rows[0]["exact_match"].get<double>(), 0.25);
  EXPECT_EQ(rows[0]["units"], 4);
  EXPECT_DOUBLE_EQ(rows[0]["standard_error"].get<double>(), 0.25);
  EXPECT_FALSE(rows[1].contains("standard_error"));
}

// Of length 8 a quarter is right and of 16 and 32 a half and all.
TEST(ScoresByLength, SplitsByTheTrainedLength) {
  const ShareTable table = {
      "length",
      "accuracy",
      {{8, Of(1, 4)}, {16, Of(1, 2, 4)}, {32, Of(3, 3, 6)}}};
  const Scores scores = ScoresByLength(table, 8);
  EXPECT_EQ(scores.metrics, (std::map<std::string, double>{
                                {"score", 0.75}, {"trained_mean", 0.25}}));
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("trained_mean"), 0.25);
  // 0.5 of the one and none of the other of two.
  EXPECT_DOUBLE_EQ(scores.standard_errors.at("score"), 0.25);
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
