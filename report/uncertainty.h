#ifndef ORDO_REPORT_UNCERTAINTY_H_
#define ORDO_REPORT_UNCERTAINTY_H_

#include <string_view>

#include "report/metrics.h"

namespace ordo::report {

// Adds the standard errors of metrics that have none and are the mean score of
// the items in an evaluation's items.jsonl, or one less it, by value and by
// name: acc, acc_norm, error, exact_match, f1, grid_mean and score. By how much
// the items differ between pairing units, of which there are two or more. What
// cannot be read says nothing. Pure function, thread-safe.
void AddItemErrors(std::string_view items, Metrics* metrics);

}  // namespace ordo::report

#endif  // ORDO_REPORT_UNCERTAINTY_H_
