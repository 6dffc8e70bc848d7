#ifndef ORDO_MODEL_TEXT_SCORING_MEANS_H_
#define ORDO_MODEL_TEXT_SCORING_MEANS_H_

#include <cstdint>
#include <string_view>
#include <vector>

// Means of scores over items and over groups of items, with standard errors, by
// the conventions of EleutherAI's lm-evaluation-harness. Pure functions,
// thread-safe.

namespace ordo::model::text::scoring {

struct Mean {
  double value = 0;
  // Infinite where the items say nothing of it: a single one, or none.
  double standard_error = 0;
  int64_t num_items = 0;
  // What the items were drawn by; each item where it stands alone.
  int64_t num_units = 0;
};

// The mean, with the sample standard deviation (n - 1) by sqrt(n) as its error:
// of scores that are 0 or 1 that is sqrt(p (1 - p) / (n - 1)). No scores: 0.
Mean MeanOf(const std::vector<double>& scores);

// The score of an item, and what it is drawn with, such as its document: items
// of one unit may depend on each other, units do not. Empty: it stands alone.
// Not owned.
struct UnitScore {
  std::string_view unit;
  double score = 0;
};

// The mean over items, each of which counts the same. Its error is that of a
// ratio of sums over units: with N items in G units, sums s_u over n_u items
// and the mean m, sqrt(G / (G - 1) sum (s_u - m n_u)^2) / N; infinite of one
// unit. Where each item stands alone it is that of MeanOf.
Mean MeanOverUnits(const std::vector<UnitScore>& scores);

// The mean over groups by their numbers of items n_i, sum n_i m_i / sum n_i,
// and its pooled standard error
//
//   sqrt(sum (n_i - 1) s_i^2 n_i / (sum n_i - k) / sum n_i)
//
// of the errors s_i of k groups: it leaves out what the groups differ by.
// Groups without items play no part, and none at all give 0. Units of two
// groups are two.
Mean PooledMean(const std::vector<Mean>& groups);

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_MEANS_H_
