#ifndef ORDO_SCHEDULER_SERVER_COUNTS_H_
#define ORDO_SCHEDULER_SERVER_COUNTS_H_

#include <string>
#include <vector>

#include "proto/ordo/queues/v1/queues.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/metrics.h"
#include "scheduler/server/view.h"

// From effects to metrics.

namespace ordo::scheduler::server {

void AddCount(const core::Count& count, SchedulerMetrics& metrics);

// The gauges of jobs, workers and devices; and of queues, all that there are.
// For each page: nobody calls either at the same time.
void ShowTotals(const View& view, SchedulerMetrics& metrics);
void ShowQueues(const std::vector<queues::v1::Queue>& queues,
                SchedulerMetrics& metrics);

// What is told of a device that is known: of the training on it, if it is the
// first of one's first rank; else 0.
struct DeviceTraining {
  std::string worker;
  std::string device;
  double checkpoint_age_s = 0;
  double loss = 0;
  double tokens_per_second = 0;
  double step_s = 0;
};
void ShowTraining(const std::vector<DeviceTraining>& devices,
                  SchedulerMetrics& metrics);

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_COUNTS_H_
