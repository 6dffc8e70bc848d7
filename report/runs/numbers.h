#ifndef ORDO_REPORT_RUNS_NUMBERS_H_
#define ORDO_REPORT_RUNS_NUMBERS_H_

#include <string>

#include "google/protobuf/struct.pb.h"
#include "report/runs/runs.h"

// What a page shows, for programs. Pure functions, thread-safe.

namespace ordo::report::runs {

// The scores of each evaluation under `evaluations`, with the checkpoint that
// they are of; of addition what its heat map sums up to under `models`; the
// last loss of each training under `training`.
google::protobuf::Struct ToJson(const Runs& runs);

// The same scores as MetricsTable has them, a row each.
std::string MetricsCsv(const Runs& runs);

// The training losses, nats per token: model, step, loss. Empty without any.
std::string LossesCsv(const Runs& runs);

}  // namespace ordo::report::runs

#endif  // ORDO_REPORT_RUNS_NUMBERS_H_
