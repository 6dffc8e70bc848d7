#include "report/stats/proportions.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "gtest/gtest.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

constexpr double kZ = 1.959963984540054;

double LogLikelihood(const DiscordantCounts& counts, double worse, double d) {
  const auto term = [](double count, double p) {
    return count == 0 ? 0.0 : count * std::log(p);
  };
  return term(counts.num_better, worse + d) + term(counts.num_worse, worse) +
         term(counts.num_items - counts.num_better - counts.num_worse,
              1 - 2 * worse - d);
}

// The score with P(worse) found by search for the largest likelihood.
double SlowScore(const DiscordantCounts& counts, double d) {
  double low = std::max(0.0, -d);
  double high = (1 - d) / 2;
  for (int step = 0; step < 200; ++step) {
    const double left = low + (high - low) / 3;
    const double right = high - (high - low) / 3;
    (LogLikelihood(counts, left, d) < LogLikelihood(counts, right, d) ? low
                                                                      : high) =
        (LogLikelihood(counts, left, d) < LogLikelihood(counts, right, d)
             ? left
             : right);
  }
  const double n = counts.num_items;
  return (counts.num_better - counts.num_worse - n * d) /
         std::sqrt(n * (2 * low + d * (1 - d)));
}

TEST(TangoScoreTest, IsTheScoreAtTheLargestLikelihood) {
  for (const DiscordantCounts& counts :
       std::vector<DiscordantCounts>{{7, 3, 50}, {0, 4, 30}, {25, 25, 60}}) {
    for (const double d : {-0.6, -0.1, -0.01, 0.01, 0.2, 0.7}) {
      EXPECT_NEAR(TangoScore(counts, d), SlowScore(counts, d), 1e-5)
          << counts.num_better << " " << counts.num_worse << " " << d;
    }
  }
}

TEST(TangoScoreTest, AtNoDifferenceItIsMcNemarsStatistic) {
  EXPECT_NEAR(TangoScore({12, 5, 80}, 0), 7 / std::sqrt(17.0), 1e-12);
}

TEST(TangoScoreTest, FallsFromEndToEnd) {
  for (const DiscordantCounts& counts : std::vector<DiscordantCounts>{
           {0, 0, 40}, {7, 3, 50}, {0, 4, 30}, {30, 0, 30}, {1.5, 0.2, 9.3}}) {
    double last = TangoScore(counts, -1);
    for (int step = -999; step <= 1000; ++step) {
      const double score = TangoScore(counts, step / 1000.0);
      ASSERT_LE(score, last) << step << " " << counts.num_items;
      last = score;
    }
  }
}

TEST(TangoIntervalTest, GivesThePublishedBounds) {
  // Fagerland, Lydersen, Laake, "Recommended tests and confidence intervals for
  // paired binomial proportions", Stat. Med. 33 (2014): airway
  // hyper-responsiveness, 1 and 7 discordant of 21.
  const Interval interval = TangoInterval({1, 7, 21}, kZ);
  EXPECT_NEAR(interval.low, -0.517, 5e-4);
  EXPECT_NEAR(interval.high, -0.026, 5e-4);
}

TEST(TangoIntervalTest, WithoutDiscordanceItHasWidth) {
  const Interval interval = TangoInterval({0, 0, 50}, kZ);
  EXPECT_NEAR(interval.high, kZ * kZ / (50 + kZ * kZ), 1e-12);
  EXPECT_NEAR(interval.low, -interval.high, 1e-12);
}

TEST(TangoIntervalTest, SwappingTheArmsMirrorsIt) {
  const Interval a = TangoInterval({13, 4, 300}, kZ);
  const Interval b = TangoInterval({4, 13, 300}, kZ);
  EXPECT_NEAR(a.low, -b.high, 1e-14);
  EXPECT_NEAR(a.high, -b.low, 1e-14);
}

TEST(TangoIntervalTest, WhereAllIsBetterTheEndIsOne) {
  const Interval interval = TangoInterval({30, 0, 30}, kZ);
  EXPECT_NEAR(interval.high, 1, 1e-12);
  EXPECT_GT(interval.low, 0.7);
}

struct Errors {
  double above = 0;  // P(the true difference is refused as too small)
  double below = 0;  // P(it is refused as too large)
};

// Summed over all outcomes that have a probability, at one-sided level alpha.
Errors ExactErrors(int n, double better, double worse, double alpha) {
  Errors errors;
  const double discordance = better + worse;
  for (int m = 0; m <= n; ++m) {
    const double weight = BinomialPmf(m, n, discordance);
    if (weight < 1e-5 * alpha) continue;
    for (int b = 0; b <= m; ++b) {
      const double p = weight * BinomialPmf(b, m, better / discordance);
      if (p < 1e-8 * alpha) continue;
      const DiscordantCounts counts = {static_cast<double>(b),
                                       static_cast<double>(m - b),
                                       static_cast<double>(n)};
      if (IsAbove(counts, better - worse, alpha)) errors.above += p;
      if (IsBelow(counts, better - worse, alpha)) errors.below += p;
    }
  }
  return errors;
}

TEST(PairedShareIntervalTest, EachSideKeepsItsLevelAtEveryDiscordance) {
  double worst = 0;
  for (const int n : {20, 50, 100, 200, 500, 1000, 2000}) {
    for (const double discordance :
         {0.003, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4}) {
      for (const double d : {0.0, -0.003, -0.005, -0.01, -0.02, -0.05, -0.1}) {
        if (-d > discordance || n * discordance > 100) continue;
        const Errors errors =
            ExactErrors(n, (discordance + d) / 2, (discordance - d) / 2, 0.025);
        EXPECT_LE(errors.above, 0.025) << n << " " << discordance << " " << d;
        EXPECT_LE(errors.below, 0.025) << n << " " << discordance << " " << d;
        worst = std::max({worst, errors.above, errors.below});
      }
    }
  }
  // Not by never refusing anything.
  EXPECT_GE(worst, 0.021);
}

// Where the true difference is below 0 IsBelow is told of rare events, whose
// number is skew: the smaller alpha, the more that counts.
TEST(PairedShareIntervalTest, AndAtEveryLevelThatAGateMayUse) {
  for (const double alpha : {0.1, 0.01, 0.005, 0.001, 5e-4, 1e-4, 1e-5, 5e-6}) {
    double worst = 0;
    for (const int n : {20, 100, 1000}) {
      for (const double num_discordant : {0.5, 1.0, 2.0, 4.0, 10.0, 40.0}) {
        const double discordance = num_discordant / n;
        if (discordance > 0.5) continue;
        for (const double part : {0.0, 0.5, 1.0}) {
          const double d = -part * discordance;
          const Errors errors = ExactErrors(n, (discordance + d) / 2,
                                            (discordance - d) / 2, alpha);
          EXPECT_LE(errors.above, alpha) << n << " " << discordance << " " << d;
          EXPECT_LE(errors.below, alpha) << n << " " << discordance << " " << d;
          worst = std::max({worst, errors.above, errors.below});
        }
      }
    }
    EXPECT_GE(worst, 0.5 * alpha) << alpha;
  }
}

TEST(PairedShareIntervalTest, RefusesNothingBeyondWhatItDoesNotRefuse) {
  for (const double n : {1.0, 5.0, 9.3, 50.0, 400.0}) {
    for (double b = 0; b <= n; b += n / 7) {
      for (double c = 0; b + c <= n; c += n / 9) {
        for (const double alpha : {0.4, 0.025, 5e-6}) {
          bool is_above = true;
          for (int step = -100; step <= 100; ++step) {
            const bool next = IsAbove({b, c, n}, step / 100.0, alpha);
            EXPECT_TRUE(is_above || !next) << n << " " << b << " " << c;
            is_above = next;
          }
        }
      }
    }
  }
}

TEST(PairedShareIntervalTest, HoldsWhatIsNotRefused) {
  for (const DiscordantCounts& counts : std::vector<DiscordantCounts>{
           {0, 0, 50}, {1, 0, 50}, {7, 3, 50}, {40, 90, 2000}, {2.5, 1, 17}}) {
    const Interval interval = PairedShareInterval(counts, 0.025);
    constexpr double kStep = 1e-9;
    EXPECT_TRUE(IsAbove(counts, interval.low - kStep, 0.025));
    EXPECT_FALSE(IsAbove(counts, interval.low + kStep, 0.025));
    EXPECT_FALSE(IsBelow(counts, interval.high - kStep, 0.025));
    EXPECT_TRUE(IsBelow(counts, interval.high + kStep, 0.025));
  }
}

TEST(PairedShareIntervalTest, OfEqualAnswersIsTheExactBoundOfAShare) {
  // 1 - 0.025^(1/n), the "rule of three".
  const Interval interval =
      PairedShareInterval(DiscordantCounts{0, 0, 400}, 0.025);
  EXPECT_NEAR(interval.low, -(1 - std::pow(0.025, 1.0 / 400)), 1e-12);
  EXPECT_NEAR(interval.high, -interval.low, 1e-12);
}

PairedItem Item(uint64_t outcome, int unit) {
  return {outcome == 1 ? 1.0 : 0.0, outcome == 2 ? 1.0 : 0.0,
          std::to_string(unit)};
}

TEST(EffectiveCountsTest, CopiesCountOnce) {
  std::vector<PairedItem> items;
  for (int unit = 0; unit < 500; ++unit) {
    for (int copy = 0; copy < 5; ++copy) {
      items.push_back(Item(unit % 10 == 0 ? 1 : unit % 10 == 1 ? 2 : 0, unit));
    }
  }
  const DiscordantCounts counts =
      EffectiveCounts(MakePairedSample(items).value());
  EXPECT_NEAR(counts.num_items, 500, 1);
  EXPECT_NEAR(counts.num_better, 50, 0.1);
  EXPECT_NEAR(counts.num_worse, 50, 0.1);
}

TEST(PairedShareIntervalTest, OneUnitRefusesNothing) {
  const PairedSample sample =
      MakePairedSample({Item(2, 0), Item(2, 0), Item(2, 0)}).value();
  const Interval interval = PairedShareInterval(sample, 0.025);
  EXPECT_EQ(interval.low, -1);
  EXPECT_EQ(interval.high, 1);
}

// 60 documents of 1 to 8 questions; in one of ten documents all answers change,
// for the better or for the worse alike.
TEST(PairedShareIntervalTest, KeepsItsLevelWhenDocumentsChangeAsAWhole) {
  base::RandomSequence random(3, "documents");
  constexpr int kSamples = 2000;
  int refused = 0;
  for (int s = 0; s < kSamples; ++s) {
    std::vector<PairedItem> items;
    for (int unit = 0; unit < 60; ++unit) {
      const uint64_t size = 1 + random.Int(8);
      const uint64_t draw = random.Int(20);
      for (uint64_t i = 0; i < size; ++i) {
        items.push_back(Item(draw < 3 ? draw : 0, unit));
      }
    }
    const Interval interval =
        PairedShareInterval(MakePairedSample(items).value(), 0.025);
    refused += interval.low > 0 || interval.high < 0;
  }
  EXPECT_LE(refused, kSamples * 0.05);
  EXPECT_GE(refused, kSamples * 0.001);
}

}  // namespace
}  // namespace ordo::report::stats
