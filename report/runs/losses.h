#ifndef ORDO_REPORT_RUNS_LOSSES_H_
#define ORDO_REPORT_RUNS_LOSSES_H_

#include <cstdint>
#include <map>
#include <string>

namespace ordo::report::runs {

// Puts the training losses of an attempt's metrics.jsonl, by step, in the place
// of those that earlier attempts recorded of these steps and of later ones.
// Lines without a step and a loss are passed over, as those of evaluations are.
void AddLosses(const std::string& jsonl, std::map<int64_t, double>* losses);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_LOSSES_H_
