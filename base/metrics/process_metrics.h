#ifndef ORDO_BASE_METRICS_PROCESS_METRICS_H_
#define ORDO_BASE_METRICS_PROCESS_METRICS_H_

#include <string>

#include "base/metrics/metrics.h"

namespace ordo::base {

// Adds what every program tells of itself, whatever it does, looked up for each
// page:
//   ordo_<part>_build_info{build,protocol}     always 1
//   ordo_<part>_process_cpu_seconds_total
//   ordo_<part>_process_resident_bytes
//   ordo_<part>_process_threads
//   ordo_<part>_process_open_files
//   ordo_<part>_process_open_files_limit
//   ordo_<part>_process_start_timestamp_seconds
//   ordo_<part>_process_clock_timestamp_seconds
//   ordo_<part>_log_lines_total{level}
//   ordo_<part>_log_lines_held_back_total
// `part` is "scheduler", "worker".
void AddProcessMetrics(const std::string& part, MetricsRegistry& registry);

}  // namespace ordo::base

#endif  // ORDO_BASE_METRICS_PROCESS_METRICS_H_
