#include "report/statistics.h"

#include <cmath>

#include "gtest/gtest.h"

namespace ordo::report {
namespace {

TEST(WilsonIntervalTest, GivesThePublishedBounds) {
  // Newcombe, Stat. Med. 17 (1998), table I, method 3.
  const Share a = WilsonInterval(81, 263);
  EXPECT_NEAR(a.low, 0.2553, 5e-5);
  EXPECT_NEAR(a.high, 0.3662, 5e-5);
  const Share b = WilsonInterval(15, 148);
  EXPECT_NEAR(b.low, 0.0624, 5e-5);
  EXPECT_NEAR(b.high, 0.1605, 5e-5);
  const Share c = WilsonInterval(1, 29);
  EXPECT_NEAR(c.low, 0.0061, 5e-5);
  EXPECT_NEAR(c.high, 0.1718, 5e-5);
}

TEST(WilsonIntervalTest, BoundsSolveTheScoreEquation) {
  const Share share = WilsonInterval(7, 20);
  for (const double p : {share.low, share.high}) {
    EXPECT_NEAR(std::abs(p - share.value),
                kNormal95 * std::sqrt(p * (1 - p) / 20), 1e-12);
  }
}

TEST(WilsonIntervalTest, NoneAndAllHaveAnIntervalWithWidth) {
  const Share none = WilsonInterval(0, 20);
  EXPECT_EQ(none.value, 0);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 0.1611, 5e-5);
  const Share all = WilsonInterval(20, 20);
  EXPECT_EQ(all.value, 1);
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(all.low, 1 - 0.1611, 5e-5);
}

TEST(WilsonIntervalTest, WithoutTrialsNothingIsKnown) {
  const Share share = WilsonInterval(0, 0);
  EXPECT_EQ(share.low, 0);
  EXPECT_EQ(share.high, 1);
}

TEST(WilsonIntervalDeathTest, RefusesMoreSuccessesThanTrials) {
  EXPECT_DEATH(WilsonInterval(3, 2), "successes of trials");
}

// Of so many units with `items` items each, of which all say the same.
SampledShare Of(double value, double units, double items) {
  return {value, std::sqrt(value * (1 - value) / (units - 1)), units,
          units * items};
}

TEST(SampledIntervalTest, OfItemsOfTheirOwnIsWilsons) {
  const Share share = SampledInterval(Of(0.35, 20, 1));
  const Share wilson = WilsonInterval(7, 20);
  EXPECT_NEAR(share.low, wilson.low, 1e-12);
  EXPECT_NEAR(share.high, wilson.high, 1e-12);
}

TEST(SampledIntervalTest, ItemsThatSayTheSameCountOnce) {
  const Share share = SampledInterval(Of(0.35, 20, 50));
  EXPECT_NEAR(share.low, WilsonInterval(7, 20).low, 1e-12);
  const Share none = SampledInterval(Of(0, 20, 50));
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, WilsonInterval(0, 20).high, 1e-12);
  const Share all = SampledInterval(Of(1, 20, 50));
  EXPECT_EQ(all.high, 1);
  EXPECT_NEAR(all.low, WilsonInterval(20, 20).low, 1e-12);
}

// Units that agree with each other tell no more than items of their own.
TEST(SampledIntervalTest, NoItemCountsTwice) {
  SampledShare share = Of(0.35, 20, 1);
  share.standard_error = 0;
  EXPECT_NEAR(SampledInterval(share).low, WilsonInterval(7, 20).low, 1e-12);
}

}  // namespace
}  // namespace ordo::report
