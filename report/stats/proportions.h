#ifndef ORDO_REPORT_STATS_PROPORTIONS_H_
#define ORDO_REPORT_STATS_PROPORTIONS_H_

#include "report/stats/paired.h"

// The difference of two paired shares: both arms answer the same n items right
// or wrong, and only the items on which they disagree tell them apart. Pure
// functions, thread-safe.

namespace ordo::report::stats {

// Counts of items. They may be fractions: a sample whose items depend on each
// other counts for fewer items (EffectiveCounts).
struct DiscordantCounts {
  // Right under the candidate only, and under the baseline only.
  double num_better = 0;
  double num_worse = 0;
  // All items, concordant ones included.
  double num_items = 0;
};

// Tango's score statistic of the hypothesis that P(better) - P(worse) equals
// `difference`: positive when more was seen, about standard normal under it,
//   (b - c - n d) / sqrt(n (2 q + d (1 - d))),   b better, c worse,
// with q the maximum likelihood of P(worse) under the hypothesis, the larger
// root of 2n q^2 + ((2n - b + c) d - b - c) q - c d (1 - d) = 0. The size of
// the numerator is lessened by `continuity` items, to 0 at most. Falls as
// `difference` rises. Infinite where the hypothesis cannot be. Source: Tango,
// "Equivalence test and confidence interval for the difference in proportions
// for the paired-sample design", Stat. Med. 17 (1998), 891-908. REQUIRES:
// counts not negative, b + c <= n, n > 0, -1 <= difference <= 1, continuity >=
// 0.
double TangoScore(const DiscordantCounts& counts, double difference,
                  double continuity = 0);

// The differences that the score does not refuse, |TangoScore| <= z: inside
// [-1, 1], and with width even where no item is discordant.
// REQUIRES: as above, z > 0.
Interval TangoInterval(const DiscordantCounts& counts, double z);

// The continuity correction of the tests below: given how many items are
// discordant, b - c moves in steps of two items, and half a step is one.
// Without it a side of Tango's interval at 2.5 % errs in up to 5 % of the
// samples with few discordant items. The price is one item of all.
inline constexpr double kContinuity = 1;

// Whether the data refuse, at one-sided level alpha, that the difference is
// `difference` or less: the corrected score is above
//   z + max(0, g) (z^2 - 1) / 6,   z the normal quantile of 1 - alpha,
// or the exact upper bound of P(worse) alone (Clopper and Pearson)
// is below -difference. The second is the sharper one where hardly an item is
// worse, as between checkpoints that answer alike; together they err no more
// often than alpha. The term beside z is that of Cornish and Fisher for g, the
// skewness of b - c at the likeliest shares under the hypothesis, where z is
// above 1: a positive difference of which hardly an item is worse makes b - c
// as skew as a count of rare events, and without the term the test errs in 1.2
// alpha at 0.5 %, 1.6 alpha at 0.05 % and 2.8 alpha at 0.001 %. With it the
// error is at most alpha for alphas of 10 % down to 0.0005 %, the range that
// gates use (sums over all outcomes for 20 to 2 000 items and discordances of
// 0.3 to 60 %, in proportions_test.cc). Assumes independent items. REQUIRES: as
// TangoScore, 0 < alpha < 1.
bool IsAbove(const DiscordantCounts& counts, double difference, double alpha);

// Likewise, that the difference is `difference` or more.
bool IsBelow(const DiscordantCounts& counts, double difference, double alpha);

// The differences that neither IsAbove nor IsBelow refuses at one-sided level
// alpha: each side holds with probability 1 - alpha at least.
Interval PairedShareInterval(const DiscordantCounts& counts, double alpha);

// The counts of a binary sample, divided by its design effect where units have
// several items (Rao and Scott, "A simple method for the analysis of clustered
// binary data", Biometrics 48, 1992). A single unit counts for no more than one
// item. REQUIRES: sample.is_binary.
DiscordantCounts EffectiveCounts(const PairedSample& sample);

// The one-sided level to use with EffectiveCounts for a wanted level alpha.
// Where units have several items the design effect is an estimate from
// num_units, so the quantile of Student's t with num_units - 1 degrees of
// freedom stands in the place of the normal one. 0 for a single unit of several
// items, from which nothing can be refused.
double EffectiveAlpha(const PairedSample& sample, double alpha);

// PairedShareInterval of EffectiveCounts at EffectiveAlpha; [-1, 1] for a
// single unit of several items. REQUIRES: sample.is_binary, 0 < alpha < 1.
Interval PairedShareInterval(const PairedSample& sample, double alpha);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_PROPORTIONS_H_
