#include "base/backoff/backoff.h"

#include <algorithm>

#include "base/random/random.h"

namespace ordo::base {

absl::Duration BackoffDelay(const BackoffOptions& options, int num_failures,
                            std::string_view key) {
  if (num_failures <= 0) return absl::ZeroDuration();
  absl::Duration delay = std::min(options.initial, options.max);
  for (int i = 1; i < num_failures && delay < options.max; ++i) {
    const absl::Duration longer = delay * options.factor;
    if (longer <= delay) break;
    delay = std::min(longer, options.max);
  }
  const double draw = RandomStream(0, key).Double(num_failures);
  return delay * (1.0 - options.jitter * draw);
}

}  // namespace ordo::base
