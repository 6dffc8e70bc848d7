#include "report/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random/random.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

using ::ordo::base::testing::StatusIs;

PairedSample Singles(const std::vector<double>& differences) {
  std::vector<PairedItem> items;
  for (const double d : differences) items.push_back({0, d, ""});
  return MakePairedSample(items).value();
}

// Six units of unequal size and skewed sums.
PairedSample Documents() {
  PairedSample sample;
  sample.units = {{0.3, 1},  {-0.61, 2}, {1.37, 2},
                  {0.05, 1}, {4.11, 3},  {0.77, 2}};
  sample.num_items = 11;
  return sample;
}

struct Resampled {
  double mean;
  double t;
};

// Every one of the G^G resamples, each as likely as the others.
std::vector<Resampled> AllResamples(const PairedSample& sample) {
  const size_t g = sample.units.size();
  const double mean = MeanDifference(sample).mean;
  size_t count = 1;
  for (size_t i = 0; i < g; ++i) count *= g;
  std::vector<Resampled> all;
  for (size_t code = 0; code < count; ++code) {
    PairedSample resample;
    for (size_t i = 0, rest = code; i < g; ++i, rest /= g) {
      resample.units.push_back(sample.units[rest % g]);
      resample.num_items += sample.units[rest % g].num_items;
    }
    const Estimate estimate = MeanDifference(resample);
    all.push_back(
        {estimate.mean, (estimate.mean - mean) / estimate.standard_error});
  }
  return all;
}

template <typename Value>
double ShareBelow(const std::vector<Resampled>& all, double bound,
                  Value value) {
  double below = 0;
  for (const Resampled& r : all) {
    below += value(r) < bound ? 1 : value(r) == bound ? 0.5 : 0;
  }
  return below / static_cast<double>(all.size());
}

double MeanOf(const Resampled& r) { return r.mean; }
double TOf(const Resampled& r) { return r.t; }

BootstrapOptions Options(BootstrapKind kind, int num_resamples) {
  BootstrapOptions options;
  options.kind = kind;
  options.num_resamples = num_resamples;
  options.level = 0.9;
  return options;
}

constexpr double kTolerance = 0.004;

TEST(BootstrapIntervalTest, PercentilesAreThoseOfAllResamples) {
  const std::vector<Resampled> all = AllResamples(Documents());
  const Interval interval =
      BootstrapInterval(Documents(),
                        Options(BootstrapKind::kPercentile, 99'999))
          .value();
  EXPECT_NEAR(ShareBelow(all, interval.low, MeanOf), 0.05, kTolerance);
  EXPECT_NEAR(ShareBelow(all, interval.high, MeanOf), 0.95, kTolerance);
}

TEST(BootstrapIntervalTest, StudentizedQuantilesAreThoseOfAllResamples) {
  const PairedSample sample = Documents();
  std::vector<Resampled> all = AllResamples(sample);
  // Six times the same unit has no spread: a t beyond all others.
  for (Resampled& r : all) {
    if (!(std::abs(r.t) < 1e6)) r.t = std::copysign(1e6, r.t);
  }
  const Interval interval =
      BootstrapInterval(sample, Options(BootstrapKind::kStudentized, 99'999))
          .value();
  const Estimate estimate = MeanDifference(sample);
  const auto t = [&](double bound) {
    return (estimate.mean - bound) / estimate.standard_error;
  };
  EXPECT_NEAR(ShareBelow(all, t(interval.low), TOf), 0.95, kTolerance);
  EXPECT_NEAR(ShareBelow(all, t(interval.high), TOf), 0.05, kTolerance);
}

TEST(BootstrapIntervalTest, BcaMovesThePercentilesByBiasAndSkewness) {
  const std::vector<double> x = {0.1, 0.35, 0.41, 0.9, 1.7, 4.2};
  const PairedSample sample = Singles(x);
  const std::vector<Resampled> all = AllResamples(sample);
  const double mean = MeanDifference(sample).mean;
  // For a plain mean the acceleration is its skewness over 6.
  double squares = 0;
  double cubes = 0;
  for (const double value : x) {
    squares += std::pow(value - mean, 2);
    cubes += std::pow(value - mean, 3);
  }
  const double a = cubes / (6 * std::pow(squares, 1.5));
  const double z0 = NormalQuantile(ShareBelow(all, mean, MeanOf));
  const auto level = [&](double z) {
    return NormalCdf(z0 + (z0 + z) / (1 - a * (z0 + z)));
  };
  const Interval interval =
      BootstrapInterval(sample, Options(BootstrapKind::kBca, 99'999)).value();
  EXPECT_NEAR(ShareBelow(all, interval.low, MeanOf), level(-1.6448536), 0.006);
  EXPECT_NEAR(ShareBelow(all, interval.high, MeanOf), level(1.6448536), 0.006);
  // Skewed to the right: both ends lie above those of the percentiles.
  EXPECT_GT(level(-1.6448536), 0.06);
}

// Share of intervals at 95 % that hold the mean 1 of skewed differences, 20 of
// them a sample.
double SimulatedCoverage(BootstrapKind kind) {
  base::RandomSequence random(11, "skewed");
  constexpr int kSamples = 500;
  int covered = 0;
  for (int s = 0; s < kSamples; ++s) {
    std::vector<double> x;
    for (int i = 0; i < 20; ++i) x.push_back(-std::log(1 - random.Double()));
    BootstrapOptions options = Options(kind, 499);
    options.level = 0.95;
    options.seed = static_cast<uint64_t>(s);
    const Interval interval = BootstrapInterval(Singles(x), options).value();
    covered += interval.low <= 1 && 1 <= interval.high;
  }
  return static_cast<double>(covered) / kSamples;
}

TEST(BootstrapIntervalTest, StudentizedKeepsItsLevelForSkewedUnits) {
  EXPECT_NEAR(SimulatedCoverage(BootstrapKind::kStudentized), 0.95, 0.025);
}

TEST(BootstrapIntervalTest, PercentilesAndBcaAreShortForFewSkewedUnits) {
  const double percentile = SimulatedCoverage(BootstrapKind::kPercentile);
  const double bca = SimulatedCoverage(BootstrapKind::kBca);
  EXPECT_NEAR(percentile, 0.90, 0.03);
  EXPECT_NEAR(bca, 0.915, 0.03);
}

TEST(BootstrapIntervalTest, DependsOnTheSeedAlone) {
  BootstrapOptions options = Options(BootstrapKind::kBca, 999);
  const Interval a = BootstrapInterval(Documents(), options).value();
  const Interval again = BootstrapInterval(Documents(), options).value();
  EXPECT_EQ(a.low, again.low);
  EXPECT_EQ(a.high, again.high);
  options.seed = 1;
  EXPECT_NE(a.low, BootstrapInterval(Documents(), options).value().low);
}

TEST(BootstrapIntervalTest, UnitsThatAreAlikeGiveNoWidth) {
  const Interval interval =
      BootstrapInterval(Singles({0.3, 0.3, 0.3}),
                        Options(BootstrapKind::kStudentized, 999))
          .value();
  EXPECT_DOUBLE_EQ(interval.low, 0.3);
  EXPECT_DOUBLE_EQ(interval.high, 0.3);
}

TEST(BootstrapIntervalTest, TwoUnitsLeaveTheStudentizedOneUnbounded) {
  const Interval interval =
      BootstrapInterval(Singles({0.1, 0.7}),
                        Options(BootstrapKind::kStudentized, 999))
          .value();
  EXPECT_TRUE(std::isinf(interval.low));
  EXPECT_TRUE(std::isinf(interval.high));
}

TEST(BootstrapIntervalTest, RefusesOneUnit) {
  EXPECT_THAT(
      BootstrapInterval(Singles({1}), Options(BootstrapKind::kBca, 999)),
      StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(BootstrapIntervalTest, RefusesResamplesTooFewForTheLevel) {
  BootstrapOptions options = Options(BootstrapKind::kBca, 999);
  options.level = 0.999;
  EXPECT_THAT(BootstrapInterval(Documents(), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options.level = 1;
  EXPECT_THAT(BootstrapInterval(Documents(), options),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(BootstrapInterval(Documents(), Options(BootstrapKind::kBca, 98)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(ResampledIntervalTest, HasAsManyResamplesAsItsLevelNeeds) {
  BootstrapOptions options = Options(BootstrapKind::kStudentized, 51'200);
  options.level = 1 - 1.0 / 1024;
  options.seed = 3;
  const Interval expected = BootstrapInterval(Documents(), options).value();
  const Interval interval =
      ResampledInterval(Documents(), options.level, 3).value();
  EXPECT_EQ(interval.low, expected.low);
  EXPECT_EQ(interval.high, expected.high);
}

TEST(ResampledIntervalTest, WhatCannotBeResampledHasNoBounds) {
  const Interval single = ResampledInterval(Singles({1}), 0.95, 3).value();
  EXPECT_TRUE(std::isinf(single.low));
  EXPECT_TRUE(std::isinf(single.high));
  // A million resamples do not suffice.
  const Interval far = ResampledInterval(Documents(), 1 - 1e-9, 3).value();
  EXPECT_TRUE(std::isinf(far.low));
  EXPECT_TRUE(std::isinf(far.high));
  // Nothing was seen to vary.
  const Interval alike =
      ResampledInterval(Singles({0.3, 0.3, 0.3, 0.3}), 0.95, 3).value();
  EXPECT_TRUE(std::isinf(alike.low));
  EXPECT_TRUE(std::isinf(alike.high));
}

}  // namespace
}  // namespace ordo::report::stats
