#ifndef ORDO_MODEL_CATALOG_METRIC_NAMES_H_
#define ORDO_MODEL_CATALOG_METRIC_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What the scores of evaluations are called, so that a spec that goes by one
// can be checked before anything is evaluated.

namespace ordo::model::catalog {

// The names of all scores that an evaluation with these resolved parameters may
// have, for people: a part in angle brackets, as in "shift_attention_l<layer>",
// stands for a whole number. Which of them it has may depend on the model.
// Those of within and beyond the trained length are left out where
// `trained_on`, which is resolved, says that nothing of theirs is asked; null:
// it is not known. Empty for what is no evaluation task.
std::vector<std::string> MetricNames(
    const Entry& task, const ParamMap& params,
    const ordo::training::v1::Data* trained_on = nullptr);

// Whether a score called `metric` is one of `names`.
bool IsMetricName(const std::vector<std::string>& names,
                  std::string_view metric);

// The tasks that MetricNames knows, sorted.
std::vector<std::string> TasksWithMetricNames();

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_METRIC_NAMES_H_
