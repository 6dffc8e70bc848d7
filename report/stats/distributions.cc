#include "report/stats/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/policies/policy.hpp>

#include "base/check.h"

namespace ordo::report::stats {
namespace {

namespace math = boost::math;
namespace policies = boost::math::policies;

// Boost throws by default. Arguments are checked here, so what is left is an
// overflow or underflow, whose limit is the right answer. Doubles stay doubles:
// long double would cost three times as much for digits that nobody reads.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>,
                     policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>,
                     policies::promote_double<false>>;
using Normal = math::normal_distribution<double, Quiet>;
using StudentT = math::students_t_distribution<double, Quiet>;
using Binomial = math::binomial_distribution<double, Quiet>;
using Beta = math::beta_distribution<double, Quiet>;

void CheckProbability(double p) {
  ORDO_CHECK(p > 0 && p < 1) << "a probability between 0 and 1, not " << p;
}

void CheckTrials(double n, double p) {
  ORDO_CHECK(n >= 0 && p >= 0 && p <= 1) << n << " trials with share " << p;
}

}  // namespace

double NormalCdf(double x) { return math::cdf(Normal(), x); }

double NormalQuantile(double p) {
  CheckProbability(p);
  return math::quantile(Normal(), p);
}

double StudentTCdf(double t, double degrees) {
  ORDO_CHECK(degrees > 0) << "degrees of freedom";
  return math::cdf(StudentT(degrees), t);
}

double StudentTQuantile(double p, double degrees) {
  CheckProbability(p);
  ORDO_CHECK(degrees > 0) << "degrees of freedom";
  return math::quantile(StudentT(degrees), p);
}

double BinomialPmf(int64_t k, int64_t n, double p) {
  CheckTrials(n, p);
  if (k < 0 || k > n) return 0;
  return math::pdf(Binomial(static_cast<double>(n), p), static_cast<double>(k));
}

double BinomialCdf(double k, double n, double p) {
  CheckTrials(n, p);
  if (k < 0) return 0;
  if (k >= n) return 1;
  return math::cdf(Binomial(n, p), k);
}

double BinomialUpperTail(int64_t k, int64_t n, double p) {
  CheckTrials(n, p);
  if (k <= 0) return 1;
  if (k > n) return 0;
  const Binomial binomial(static_cast<double>(n), p);
  return math::cdf(math::complement(binomial, static_cast<double>(k - 1)));
}

double ShareUpperBound(double successes, double trials, double alpha) {
  CheckProbability(alpha);
  ORDO_CHECK(trials > 0 && successes >= 0 && successes <= trials)
      << successes << " successes of " << trials;
  if (successes == trials) return 1;
  const Beta beta(successes + 1, trials - successes);
  return math::quantile(math::complement(beta, alpha));
}

}  // namespace ordo::report::stats
