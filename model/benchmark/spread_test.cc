#include "model/benchmark/spread.h"

#include "gtest/gtest.h"

namespace ordo::model::benchmark {
namespace {

TEST(SpreadTest, SamplesAreTheirMedianAndFromWhereToWhereTheyAre) {
  const SpreadText spread = SpreadOf({0.003, 0.001, 0.0025}, /*scale=*/1000);
  EXPECT_EQ(spread.median, "2.500");
  EXPECT_EQ(spread.range, "1.000..3.000");
}

TEST(SpreadTest, LargerNumbersHaveFewerDecimals) {
  EXPECT_EQ(SpreadOf({9.99, 1}).range, "1.000..9.990");
  EXPECT_EQ(SpreadOf({10, 1}).range, "1.00..10.00");
  EXPECT_EQ(SpreadOf({123.45, 1}).range, "1.0..123.5");
  EXPECT_EQ(SpreadOf({123456, 1}).range, "1..123456");
  EXPECT_EQ(SpreadOf({0.519}, 1, /*max_decimals=*/2).median, "0.52");
}

TEST(SpreadTest, WithoutSamplesThereIsNone) {
  EXPECT_EQ(SpreadOf({}).median, "-");
  EXPECT_EQ(SpreadOf({}).range, "");
}

TEST(LinePairTest, ACellOfTheSecondStandsBelowItsOwn) {
  LinePair lines;
  lines.Add(-4, "ab");
  lines.Add(6, SpreadOf({1, 2}, 1, 0));
  lines.Add(3, "x");
  EXPECT_EQ(lines.text(),
            "ab        2   x\n"
            "       1..2\n");
}

TEST(LinePairTest, AnEmptySecondLineIsLeftOut) {
  LinePair lines;
  lines.Add(3, "a");
  lines.Add(3, SpreadOf({}));
  EXPECT_EQ(lines.text(), "  a   -\n");
}

}  // namespace
}  // namespace ordo::model::benchmark
