#include "report/stats/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/random/random.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Resamples beyond each bound: with fewer, the bound is a matter of luck.
constexpr double kResamplesBeyond = 25;

absl::Status CheckOptions(const PairedSample& sample,
                          const BootstrapOptions& options) {
  if (!(options.level > 0 && options.level < 1)) {
    return base::InvalidField("level", absl::StrCat("is ", options.level,
                                                    ": give one between 0 and "
                                                    "1, such as 0.95"));
  }
  if (options.num_resamples < kMinResamples ||
      options.num_resamples > kMaxResamples ||
      (options.num_resamples + 1.0) * (1 - options.level) / 2 < 1) {
    return base::InvalidField(
        "num_resamples",
        absl::StrCat("is ", options.num_resamples, ": give ", kMinResamples,
                     " to ", kMaxResamples, ", and at least 2 / (1 - level)"));
  }
  if (sample.units.size() < 2) {
    return absl::FailedPreconditionError(
        "a bootstrap over one unit: items of one document say nothing about "
        "other documents; evaluate on more");
  }
  return absl::OkStatus();
}

// Mean and standard error of units, from sums of s, n, s^2, s n and n^2.
class UnitSums {
 public:
  void Add(const Unit& unit) {
    const double n = static_cast<double>(unit.num_items);
    ++num_units_;
    s_ += unit.sum;
    n_ += n;
    ss_ += unit.sum * unit.sum;
    sn_ += unit.sum * n;
    nn_ += n * n;
  }

  double Mean() const { return s_ / n_; }

  double StandardError() const {
    const double mean = Mean();
    const double squares = ss_ - 2 * mean * sn_ + mean * mean * nn_;
    // What rounding leaves of units that are all alike.
    constexpr double kRounding = 1e-14;
    if (squares <= kRounding * ss_) return 0;
    return std::sqrt(num_units_ / (num_units_ - 1) * squares) / n_;
  }

 private:
  double num_units_ = 0;
  double s_ = 0;
  double n_ = 0;
  double ss_ = 0;
  double sn_ = 0;
  double nn_ = 0;
};

// Draws indices in [0, n), four from each block of the stream: an index is
// favoured by no more than n / 2^32 of its probability.
class IndexSequence {
 public:
  IndexSequence(uint64_t seed, uint64_t n)
      : stream_(seed, "bootstrap"), n_(n) {}

  size_t Next() {
    const size_t word = drawn_ % block_.size();
    if (word == 0) block_ = stream_.Block(drawn_ / block_.size());
    ++drawn_;
    return static_cast<size_t>((uint64_t{block_[word]} * n_) >> 32);
  }

 private:
  const base::RandomStream stream_;
  const uint64_t n_;
  uint64_t drawn_ = 0;
  base::PhiloxBlock block_ = {};
};

double TStatistic(double difference, double standard_error) {
  if (standard_error > 0) return difference / standard_error;
  if (difference == 0) return 0;
  return difference > 0 ? kInfinity : -kInfinity;
}

// Sorted means, or t statistics, of the resamples.
std::vector<double> Resample(const PairedSample& sample,
                             const BootstrapOptions& options, double mean) {
  const size_t num_units = sample.units.size();
  IndexSequence indices(options.seed, num_units);
  std::vector<double> values;
  values.reserve(static_cast<size_t>(options.num_resamples));
  for (int r = 0; r < options.num_resamples; ++r) {
    UnitSums sums;
    for (size_t i = 0; i < num_units; ++i) {
      sums.Add(sample.units[indices.Next()]);
    }
    values.push_back(options.kind == BootstrapKind::kStudentized
                         ? TStatistic(sums.Mean() - mean, sums.StandardError())
                         : sums.Mean());
  }
  std::sort(values.begin(), values.end());
  return values;
}

double Quantile(const std::vector<double>& sorted, double p) {
  const double count = static_cast<double>(sorted.size());
  const double position = std::clamp((count + 1) * p, 1.0, count);
  const auto below = static_cast<size_t>(position);
  const double share = position - static_cast<double>(below);
  const double low = sorted[below - 1];
  // An infinite end is not interpolated: infinity less infinity is no number.
  if (share == 0 || std::isinf(low) || sorted[below] == low) return low;
  return low + share * (sorted[below] - low);
}

double Acceleration(const PairedSample& sample) {
  double sum = 0;
  double items = 0;
  for (const Unit& unit : sample.units) {
    sum += unit.sum;
    items += static_cast<double>(unit.num_items);
  }
  std::vector<double> means;
  double center = 0;
  for (const Unit& unit : sample.units) {
    means.push_back((sum - unit.sum) /
                    (items - static_cast<double>(unit.num_items)));
    center += means.back() / static_cast<double>(sample.units.size());
  }
  double squares = 0;
  double cubes = 0;
  for (const double mean : means) {
    const double d = center - mean;
    squares += d * d;
    cubes += d * d * d;
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

Interval BcaInterval(const PairedSample& sample,
                     const std::vector<double>& means, double mean,
                     double alpha) {
  const auto [first, last] = std::equal_range(means.begin(), means.end(), mean);
  const double count = static_cast<double>(means.size());
  const double below = (static_cast<double>(first - means.begin()) +
                        static_cast<double>(last - means.begin())) /
                       (2 * count);
  const double edge = 1 / (count + 1);
  const double bias = NormalQuantile(std::clamp(below, edge, 1 - edge));
  const double acceleration = Acceleration(sample);
  const auto quantile = [&](double z) {
    const double moved = bias + z;
    return Quantile(means,
                    NormalCdf(bias + moved / (1 - acceleration * moved)));
  };
  const double z = NormalQuantile(1 - alpha);
  return {quantile(-z), quantile(z)};
}

UnitSums SumsOf(const PairedSample& sample) {
  UnitSums sums;
  for (const Unit& unit : sample.units) sums.Add(unit);
  return sums;
}

}  // namespace

absl::StatusOr<Interval> BootstrapInterval(const PairedSample& sample,
                                           const BootstrapOptions& options) {
  ORDO_RETURN_IF_ERROR(CheckOptions(sample, options));
  const UnitSums sums = SumsOf(sample);
  const double mean = sums.Mean();
  const double error = sums.StandardError();
  if (error == 0) return Interval{mean, mean};
  const double alpha = (1 - options.level) / 2;
  const std::vector<double> values = Resample(sample, options, mean);
  switch (options.kind) {
    case BootstrapKind::kBca:
      return BcaInterval(sample, values, mean, alpha);
    case BootstrapKind::kStudentized:
      return Interval{mean - error * Quantile(values, 1 - alpha),
                      mean - error * Quantile(values, alpha)};
    case BootstrapKind::kPercentile:
      break;
  }
  return Interval{Quantile(values, alpha), Quantile(values, 1 - alpha)};
}

absl::StatusOr<Interval> ResampledInterval(const PairedSample& sample,
                                           double level, uint64_t seed) {
  BootstrapOptions options;
  options.level = level;
  options.seed = seed;
  const double tail = (1 - level) / 2;
  options.num_resamples =
      static_cast<int>(std::clamp(std::ceil(kResamplesBeyond / tail),
                                  static_cast<double>(options.num_resamples),
                                  static_cast<double>(kMaxResamples)));
  if (sample.units.size() < 2 || (options.num_resamples + 1) * tail < 1 ||
      SumsOf(sample).StandardError() == 0) {
    return Interval{-kInfinity, kInfinity};
  }
  return BootstrapInterval(sample, options);
}

}  // namespace ordo::report::stats
