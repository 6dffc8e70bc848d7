#include "model/evaluation/draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace ordo::model::evaluation {

int64_t DrawToken(const float* logits, int64_t count, int64_t top_k,
                  double uniform) {
  ORDO_CHECK(count > 0 && top_k >= 0) << "logits to draw from";
  const auto logit = [logits](int64_t id) {
    return std::isnan(logits[id]) ? -std::numeric_limits<double>::infinity()
                                  : static_cast<double>(logits[id]);
  };
  const auto is_greater = [&logit](int64_t a, int64_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  };
  std::vector<int64_t> ids(static_cast<size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  const int64_t likeliest =
      *std::min_element(ids.begin(), ids.end(), is_greater);
  const double greatest = logit(likeliest);
  if (top_k == 1 || !std::isfinite(greatest)) return likeliest;
  if (top_k > 0 && top_k < count) {
    std::partial_sort(ids.begin(), ids.begin() + top_k, ids.end(), is_greater);
    ids.resize(static_cast<size_t>(top_k));
  }
  double total = 0;
  for (const int64_t id : ids) total += std::exp(logit(id) - greatest);
  double sum = 0;
  for (const int64_t id : ids) {
    sum += std::exp(logit(id) - greatest);
    if (sum > uniform * total) return id;
  }
  // Not reached: the sums are of the same numbers in the same order.
  return likeliest;
}

}  // namespace ordo::model::evaluation
