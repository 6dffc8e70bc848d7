#include "report/stats/exact_tests.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random/random.h"
#include "base/status/details.h"
#include "report/stats/distributions.h"

namespace ordo::report::stats {
namespace {

// Totals closer than this share of the sum of all sizes are equal: the same
// terms added in another order.
constexpr double kRounding = 1e-12;

// What a total of sums with flipped signs is compared with.
struct Bar {
  Alternative alternative;
  double observed;
  double tolerance;

  bool ReachedBy(double total) const {
    switch (alternative) {
      case Alternative::kBetter:
        return total >= observed - tolerance;
      case Alternative::kWorse:
        return total <= observed + tolerance;
      case Alternative::kTwoSided:
        return std::abs(total) >= std::abs(observed) - tolerance;
    }
    return true;
  }
};

// How many of the assignments of signs to sizes[next...] reach the bar.
int64_t CountFlips(const std::vector<double>& sizes, size_t next, double total,
                   const Bar& bar) {
  if (next == sizes.size()) return bar.ReachedBy(total) ? 1 : 0;
  return CountFlips(sizes, next + 1, total + sizes[next], bar) +
         CountFlips(sizes, next + 1, total - sizes[next], bar);
}

int64_t CountDrawnFlips(const std::vector<double>& sizes,
                        const SignFlipOptions& options, const Bar& bar) {
  constexpr size_t kBits = 64;
  base::RandomSequence random(options.seed, "sign_flips");
  int64_t reached = 0;
  for (int sample = 0; sample < options.num_samples; ++sample) {
    double total = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (i % kBits == 0) bits = random.Bits();
      total += (bits & 1) != 0 ? sizes[i] : -sizes[i];
      bits >>= 1;
    }
    if (bar.ReachedBy(total)) ++reached;
  }
  return reached;
}

}  // namespace

double SignTest(int64_t num_better, int64_t num_worse,
                Alternative alternative) {
  ORDO_CHECK(num_better >= 0 && num_worse >= 0) << "counts of items";
  const int64_t n = num_better + num_worse;
  switch (alternative) {
    case Alternative::kBetter:
      return BinomialUpperTail(num_better, n, 0.5);
    case Alternative::kWorse:
      return BinomialUpperTail(num_worse, n, 0.5);
    case Alternative::kTwoSided:
      return std::min(
          1.0, 2 * BinomialUpperTail(std::max(num_better, num_worse), n, 0.5));
  }
  return 1;
}

double SignTest(const PairedSample& sample, Alternative alternative) {
  int64_t num_better = 0;
  int64_t num_worse = 0;
  for (const Unit& unit : sample.units) {
    if (unit.sum > 0) ++num_better;
    if (unit.sum < 0) ++num_worse;
  }
  return SignTest(num_better, num_worse, alternative);
}

absl::StatusOr<SignFlipResult> SignFlipTest(const PairedSample& sample,
                                            const SignFlipOptions& options) {
  if (options.num_samples < 1 || options.num_samples > kMaxFlipSamples) {
    return base::InvalidField(
        "num_samples", absl::StrCat("is ", options.num_samples, ": give 1 to ",
                                    kMaxFlipSamples));
  }
  std::vector<double> sizes;
  Bar bar = {options.alternative, 0, 0};
  for (const Unit& unit : sample.units) {
    if (unit.sum == 0) continue;
    sizes.push_back(std::abs(unit.sum));
    bar.observed += unit.sum;
    bar.tolerance += kRounding * std::abs(unit.sum);
  }
  SignFlipResult result;
  result.exact = sizes.size() <= kMaxExactFlips;
  if (result.exact) {
    result.p = static_cast<double>(CountFlips(sizes, 0, 0, bar)) /
               std::ldexp(1.0, static_cast<int>(sizes.size()));
  } else {
    result.p = static_cast<double>(CountDrawnFlips(sizes, options, bar) + 1) /
               (options.num_samples + 1.0);
  }
  return result;
}

}  // namespace ordo::report::stats
