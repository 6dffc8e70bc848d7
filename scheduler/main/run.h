#ifndef ORDO_SCHEDULER_MAIN_RUN_H_
#define ORDO_SCHEDULER_MAIN_RUN_H_

#include <functional>

#include "absl/status/status.h"
#include "proto/ordo/config/v1/scheduler.pb.h"

namespace ordo::scheduler {

// Serves by a resolved configuration: opens the store, starts the shell, all
// services and the metrics page, writes the endpoints file; then calls
// `wait_for_end`, and when that returns drains and ends.
absl::Status Run(const config::v1::SchedulerConfig& config,
                 const std::function<void()>& wait_for_end);

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_MAIN_RUN_H_
