#ifndef ORDO_MODEL_TEXT_SCORING_F_MEASURE_H_
#define ORDO_MODEL_TEXT_SCORING_F_MEASURE_H_

#include <cstddef>

namespace ordo::model::text::scoring {

// 2PR / (P + R) of precision P = same / predicted and recall R = same / wanted;
// 0 where nothing is the same. REQUIRES: same is at most either.
inline double FMeasure(size_t same, size_t predicted, size_t wanted) {
  if (same == 0) return 0;
  const double precision =
      static_cast<double>(same) / static_cast<double>(predicted);
  const double recall = static_cast<double>(same) / static_cast<double>(wanted);
  return 2 * precision * recall / (precision + recall);
}

}  // namespace ordo::model::text::scoring

#endif  // ORDO_MODEL_TEXT_SCORING_F_MEASURE_H_
