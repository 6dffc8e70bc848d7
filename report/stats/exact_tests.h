#ifndef ORDO_REPORT_STATS_EXACT_TESTS_H_
#define ORDO_REPORT_STATS_EXACT_TESTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "report/stats/paired.h"

// Tests of "no difference" that hold at every sample size. Pure functions,
// thread-safe.

namespace ordo::report::stats {

// What speaks against "no difference".
enum class Alternative {
  kTwoSided,
  kBetter,  // The candidate scores more.
  kWorse,   // The candidate scores less.
};

// The exact sign test: the probability, when better and worse are equally
// likely, of a count at least as far out as the one seen; ties are left out.
// Two-sided: twice the smaller tail, at most 1. For right and wrong answers it
// is McNemar's exact test, the counts being the discordant items (McNemar,
// Psychometrika 12, 1947). Assumes independent items.
// REQUIRES: counts not negative.
double SignTest(int64_t num_better, int64_t num_worse, Alternative alternative);

// The sign test over units, by the sign of each unit's sum: items of one unit
// may depend on each other.
double SignTest(const PairedSample& sample, Alternative alternative);

struct SignFlipOptions {
  Alternative alternative = Alternative::kTwoSided;
  // Random assignments of signs, where there are too many to try all.
  int num_samples = 99'999;
  // The same seed gives the same value everywhere.
  uint64_t seed = 0;
};

// Up to so many units (2^20 assignments) all assignments are tried.
inline constexpr int kMaxExactFlips = 20;
inline constexpr int kMaxFlipSamples = 10'000'000;

struct SignFlipResult {
  double p = 1;
  // Whether all assignments were tried.
  bool exact = false;
};

// The sign-flip permutation test of a mean difference of 0 (Fisher, The Design
// of Experiments, 1935, section 21). If it makes no difference which arm is
// which, each unit's sum could as well have had the other sign: p is the share
// of assignments of signs whose total is at least as far out as the one seen.
// Units whose sum is zero have none. With more than kMaxExactFlips units that
// differ the assignments are drawn, and p = (b + 1) / (m + 1) for b of m drawn,
// which keeps the level where b / m does not (Phipson and Smyth, Stat. Appl.
// Genet. Mol. Biol. 9, 2010). Assumes independent units.
// INVALID_ARGUMENT: num_samples outside [1, kMaxFlipSamples].
absl::StatusOr<SignFlipResult> SignFlipTest(const PairedSample& sample,
                                            const SignFlipOptions& options);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_EXACT_TESTS_H_
