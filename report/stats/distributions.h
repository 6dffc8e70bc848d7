#ifndef ORDO_REPORT_STATS_DISTRIBUTIONS_H_
#define ORDO_REPORT_STATS_DISTRIBUTIONS_H_

#include <cstdint>

// Probabilities and quantiles of the distributions that the tests of this
// folder need. Boost.Math does the work, and only distributions.cc sees it.
// Pure functions, thread-safe; errors below 1e-12, relative in the tails.

namespace ordo::report::stats {

// P(Z <= x) of a standard normal Z.
double NormalCdf(double x);

// The x with NormalCdf(x) = p. REQUIRES: 0 < p < 1.
double NormalQuantile(double p);

// P(T <= t) of Student's t with `degrees` of freedom. REQUIRES: degrees > 0.
double StudentTCdf(double t, double degrees);

// The t with StudentTCdf(t, degrees) = p. REQUIRES: 0 < p < 1, degrees > 0.
double StudentTQuantile(double p, double degrees);

// P(X = k) for X the successes of n independent trials that each succeed with
// probability p; 0 for k outside [0, n]. REQUIRES: n >= 0, 0 <= p <= 1; so in
// the next two.
double BinomialPmf(int64_t k, int64_t n, double p);

// P(X <= k); 0 for k < 0 and 1 for k >= n. Fractions of counts are allowed and
// give the beta function between those of whole ones.
double BinomialCdf(double k, double n, double p);

// P(X >= k); 1 for k <= 0 and 0 for k > n. Small values keep their precision,
// which 1 - BinomialCdf(k - 1, n, p) would lose.
double BinomialUpperTail(int64_t k, int64_t n, double p);

// The exact upper bound of a share (Clopper and Pearson, Biometrika 26, 1934):
// the p with P(X <= successes) = alpha, so that a true share above the bound
// has probability at most alpha. 1 when all succeed.
// Fractions of counts are allowed, as above.
// REQUIRES: 0 <= successes <= trials, trials > 0, 0 < alpha < 1.
double ShareUpperBound(double successes, double trials, double alpha);

}  // namespace ordo::report::stats

#endif  // ORDO_REPORT_STATS_DISTRIBUTIONS_H_
