#include "report/stats/proportions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/check.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Halvings of an interval, each of which gives one bit: the last ones make no
// difference any more.
constexpr int kBits = 60;

// Sizes of counts that rounding of a division may leave.
constexpr double kRounding = 1e-9;

// The larger root q of 2n q^2 + linear q + constant = 0, constant <= 0, without
// the cancellation of the school formula.
double LargerRoot(double n, double linear, double constant) {
  const double root = std::sqrt(linear * linear - 8 * n * constant);
  if (linear > 0) return -2 * constant / (root + linear);
  return (root - linear) / (4 * n);
}

// P(worse) is at least -difference. Where the constant is positive (a negative
// difference) the roots are those of the same equation in P(better).
double LikeliestWorse(const DiscordantCounts& counts, double d) {
  const double n = counts.num_items;
  const double b = counts.num_better;
  const double c = counts.num_worse;
  if (d >= 0)
    return LargerRoot(n, (2 * n - b + c) * d - b - c, -c * d * (1 - d));
  const double better =
      LargerRoot(n, (2 * n - c + b) * -d - b - c, b * d * (1 + d));
  return better - d;
}

// Of b - c where the shares are as likely as the hypothesis lets them be; 0
// where it has no variance.
double Skewness(const DiscordantCounts& counts, double d) {
  const double discordance = 2 * LikeliestWorse(counts, d) + d;
  const double variance = discordance - d * d;
  if (variance <= 0) return 0;
  const double third = d - 3 * d * discordance + 2 * d * d * d;
  return third / (variance * std::sqrt(variance * counts.num_items));
}

// Whether the score alone refuses `difference`; false from some difference on.
bool ScoreIsAbove(const DiscordantCounts& counts, double difference, double z) {
  const double skewness = std::max(0.0, Skewness(counts, difference));
  return TangoScore(counts, difference, kContinuity) >
         z + skewness * std::max(0.0, z * z - 1) / 6;
}

// The difference from which on the score alone refuses none.
double ScoreBound(const DiscordantCounts& counts, double z) {
  double low = -1;
  double high = (counts.num_better - counts.num_worse) / counts.num_items;
  for (int bit = 0; bit < kBits; ++bit) {
    const double middle = (low + high) / 2;
    (ScoreIsAbove(counts, middle, z) ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The difference between -1 and 1 at which the falling score crosses `level`.
double Crossing(const DiscordantCounts& counts, double level) {
  double low = -1;
  double high = 1;
  for (int bit = 0; bit < kBits; ++bit) {
    const double middle = (low + high) / 2;
    (TangoScore(counts, middle) > level ? low : high) = middle;
  }
  return (low + high) / 2;
}

void CheckCounts(const DiscordantCounts& counts) {
  ORDO_CHECK(counts.num_better >= 0 && counts.num_worse >= 0 &&
             counts.num_items > 0 &&
             counts.num_better + counts.num_worse <=
                 counts.num_items * (1 + kRounding))
      << counts.num_better << " better and " << counts.num_worse << " worse of "
      << counts.num_items;
}

DiscordantCounts Swapped(const DiscordantCounts& counts) {
  return {counts.num_worse, counts.num_better, counts.num_items};
}

}  // namespace

double TangoScore(const DiscordantCounts& counts, double difference,
                  double continuity) {
  CheckCounts(counts);
  ORDO_CHECK(difference >= -1 && difference <= 1) << "difference of shares";
  const double n = counts.num_items;
  const double d = difference;
  const double exact = counts.num_better - counts.num_worse - n * d;
  const double seen =
      std::copysign(std::max(0.0, std::abs(exact) - continuity), exact);
  const double variance = n * (2 * LikeliestWorse(counts, d) + d * (1 - d));
  if (variance > 0) return seen / std::sqrt(variance);
  if (std::abs(seen) <= kRounding) return 0;
  return seen > 0 ? kInfinity : -kInfinity;
}

Interval TangoInterval(const DiscordantCounts& counts, double z) {
  CheckCounts(counts);
  ORDO_CHECK(z > 0) << "a quantile above the median";
  const double estimate =
      (counts.num_better - counts.num_worse) / counts.num_items;
  return {std::min(Crossing(counts, z), estimate),
          std::max(Crossing(counts, -z), estimate)};
}

bool IsAbove(const DiscordantCounts& counts, double difference, double alpha) {
  if (ScoreIsAbove(counts, difference, -NormalQuantile(alpha))) return true;
  return difference < 0 &&
         BinomialCdf(counts.num_worse, counts.num_items, -difference) < alpha;
}

bool IsBelow(const DiscordantCounts& counts, double difference, double alpha) {
  return IsAbove(Swapped(counts), -difference, alpha);
}

Interval PairedShareInterval(const DiscordantCounts& counts, double alpha) {
  CheckCounts(counts);
  const double z = -NormalQuantile(alpha);
  Interval interval = {ScoreBound(counts, z), -ScoreBound(Swapped(counts), z)};
  interval.low =
      std::max(interval.low,
               -ShareUpperBound(counts.num_worse, counts.num_items, alpha));
  interval.high =
      std::min(interval.high,
               ShareUpperBound(counts.num_better, counts.num_items, alpha));
  return interval;
}

DiscordantCounts EffectiveCounts(const PairedSample& sample) {
  ORDO_CHECK(sample.is_binary) << "scores other than 0 and 1";
  const double items = static_cast<double>(sample.num_items);
  const double effect = std::min(DesignEffect(sample), items);
  return {static_cast<double>(sample.num_better) / effect,
          static_cast<double>(sample.num_worse) / effect, items / effect};
}

double EffectiveAlpha(const PairedSample& sample, double alpha) {
  ORDO_CHECK(alpha > 0 && alpha < 1) << "a level between 0 and 1";
  const auto num_units = static_cast<int64_t>(sample.units.size());
  if (num_units == sample.num_items) return alpha;
  if (num_units == 1) return 0;
  return NormalCdf(
      -StudentTQuantile(1 - alpha, static_cast<double>(num_units - 1)));
}

Interval PairedShareInterval(const PairedSample& sample, double alpha) {
  const double effective = EffectiveAlpha(sample, alpha);
  if (effective == 0) return {-1, 1};
  return PairedShareInterval(EffectiveCounts(sample), effective);
}

}  // namespace ordo::report::stats
