#ifndef ORDO_BASE_BACKOFF_BACKOFF_H_
#define ORDO_BASE_BACKOFF_BACKOFF_H_

#include <string_view>

#include "absl/time/time.h"

namespace ordo::base {

struct BackoffOptions {
  // Delay after the first failure.
  absl::Duration initial = absl::Seconds(1);
  // No delay is longer.
  absl::Duration max = absl::Minutes(5);
  // Growth per failure, at least 1.
  double factor = 2;
  // Share of a delay that jitter may take off, in [0, 1], so that what failed
  // together does not come back together.
  double jitter = 0.2;
};

// How long to wait after the `num_failures`-th failure in a row (1 is the
// first; 0 gives no delay). A pure function: the jitter is drawn from `key`,
// such as a job's name, and `num_failures`.
absl::Duration BackoffDelay(const BackoffOptions& options, int num_failures,
                            std::string_view key);

}  // namespace ordo::base

#endif  // ORDO_BASE_BACKOFF_BACKOFF_H_
