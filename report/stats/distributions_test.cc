#include "report/stats/distributions.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace ordo::report::stats {
namespace {

TEST(NormalTest, GivesTheTabulatedQuantiles) {
  // Abramowitz and Stegun (1964), table 26.5 and its text.
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.95), 1.644853626951473, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-15);
  EXPECT_NEAR(NormalCdf(1), 0.841344746068543, 1e-12);
}

TEST(NormalTest, KeepsItsPrecisionFarOut) {
  EXPECT_NEAR(NormalCdf(-10) / 7.619853024160527e-24, 1, 1e-12);
  EXPECT_NEAR(NormalQuantile(NormalCdf(-10)), -10, 1e-12);
}

TEST(StudentTTest, GivesTheTabulatedQuantiles) {
  // Any table of Student's t, upper 2.5 %: 12.706, 2.776, 2.262, 2.042.
  EXPECT_NEAR(StudentTQuantile(0.975, 1), 12.706204736432095, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.975, 4), 2.7764451051977987, 1e-10);
  EXPECT_NEAR(StudentTQuantile(0.975, 9), 2.2621571627409915, 1e-10);
  EXPECT_NEAR(StudentTQuantile(0.975, 30), 2.0422724563012373, 1e-10);
}

TEST(StudentTTest, OneAndTwoDegreesHaveTheirClosedForms) {
  for (const double t : {-3.0, -0.5, 0.0, 1.0, 20.0}) {
    EXPECT_NEAR(StudentTCdf(t, 1), 0.5 + std::atan(t) / std::acos(-1.0), 1e-13);
    EXPECT_NEAR(StudentTCdf(t, 2), 0.5 + t / (2 * std::sqrt(2 + t * t)), 1e-13);
  }
}

// Pascal's triangle with weights: nothing of what Boost does.
std::vector<double> SlowBinomial(int n, double p) {
  std::vector<double> pmf = {1};
  for (int trial = 0; trial < n; ++trial) {
    std::vector<double> next(pmf.size() + 1, 0.0);
    for (size_t k = 0; k < pmf.size(); ++k) {
      next[k] += pmf[k] * (1 - p);
      next[k + 1] += pmf[k] * p;
    }
    pmf = next;
  }
  return pmf;
}

TEST(BinomialTest, EqualsTheSumOverAllOutcomes) {
  for (const double p : {0.0, 0.01, 0.5, 0.93, 1.0}) {
    const int n = 40;
    const std::vector<double> pmf = SlowBinomial(n, p);
    double below = 0;
    for (int k = 0; k <= n; ++k) {
      EXPECT_NEAR(BinomialPmf(k, n, p), pmf[k], 1e-14) << k << " " << p;
      EXPECT_NEAR(BinomialUpperTail(k, n, p), 1 - below, 1e-13) << k;
      below += pmf[k];
      EXPECT_NEAR(BinomialCdf(k, n, p), below, 1e-13) << k << " " << p;
    }
  }
}

TEST(BinomialTest, UpperTailKeepsItsPrecision) {
  EXPECT_NEAR(BinomialUpperTail(60, 60, 0.5) / std::ldexp(1.0, -60), 1, 1e-12);
}

TEST(BinomialTest, OutsideOfTheTrialsNothingHappens) {
  EXPECT_EQ(BinomialPmf(-1, 3, 0.5), 0);
  EXPECT_EQ(BinomialPmf(4, 3, 0.5), 0);
  EXPECT_EQ(BinomialCdf(-1, 3, 0.5), 0);
  EXPECT_EQ(BinomialCdf(3, 3, 0.5), 1);
  EXPECT_EQ(BinomialUpperTail(0, 3, 0.5), 1);
  EXPECT_EQ(BinomialUpperTail(4, 3, 0.5), 0);
  EXPECT_EQ(BinomialPmf(0, 0, 0.5), 1);
}

TEST(ShareUpperBoundTest, SolvesItsEquation) {
  for (const int k : {0, 1, 7, 49}) {
    EXPECT_NEAR(BinomialCdf(k, 50, ShareUpperBound(k, 50, 0.025)), 0.025,
                1e-10);
  }
  EXPECT_EQ(ShareUpperBound(50, 50, 0.025), 1);
}

TEST(ShareUpperBoundTest, GivesThePublishedBounds) {
  // Newcombe, Stat. Med. 17 (1998), 857-872, table I, method 5.
  EXPECT_NEAR(ShareUpperBound(81, 263, 0.025), 0.3676, 5e-5);
  EXPECT_NEAR(ShareUpperBound(0, 20, 0.025), 0.1684, 5e-5);
  EXPECT_NEAR(ShareUpperBound(1, 29, 0.025), 0.1776, 5e-5);
}

TEST(DistributionsDeathTest, RefuseWhatIsNoProbability) {
  EXPECT_DEATH(NormalQuantile(1), "a probability");
  EXPECT_DEATH(StudentTQuantile(0.5, 0), "degrees of freedom");
  EXPECT_DEATH(BinomialCdf(1, 2, 1.5), "trials with share");
  EXPECT_DEATH(ShareUpperBound(3, 2, 0.05), "successes of");
}

}  // namespace
}  // namespace ordo::report::stats
