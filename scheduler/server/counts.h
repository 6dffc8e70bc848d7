#ifndef ORDO_SCHEDULER_SERVER_COUNTS_H_
#define ORDO_SCHEDULER_SERVER_COUNTS_H_

#include "scheduler/core/effect.h"
#include "scheduler/metrics.h"
#include "scheduler/server/view.h"

// From effects to metrics.

namespace ordo::scheduler::server {

void AddCount(const core::Count& count, SchedulerMetrics& metrics);

// The gauges of the training on a device.
void ShowProgress(const core::PublishProgress& progress,
                  SchedulerMetrics& metrics);

// The gauges of jobs and workers, and of the queues that have changed since the
// last call with this view.
void ShowTotals(View& view, SchedulerMetrics& metrics);

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_COUNTS_H_
