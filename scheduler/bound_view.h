#ifndef ORDO_SCHEDULER_BOUND_VIEW_H_
#define ORDO_SCHEDULER_BOUND_VIEW_H_

#include <set>
#include <string>

#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/workers/v1/workers.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::scheduler {

// Which queues somebody sees, and what they may read of what is there. It reads
// the store. The scheduler outlives it.
struct BoundView {
  Scheduler& scheduler;
  std::set<std::string> queues;

  bool Sees(const std::string& queue) const {
    return queues.count(queue.empty() ? kDefaultQueue : queue) > 0;
  }
  // By id. No job is not seen.
  bool SeesJob(const std::string& job) const;

  // The text with "another" in the place of the names of jobs that are not
  // seen, but for those of `named`.
  std::string Masked(const std::string& text,
                     const std::set<std::string>& named = {}) const;

  // Takes the names of jobs that are not seen out of what is said of one that
  // is, its spec included, and of what all see.
  void HideIn(jobs::v1::Job* job) const;
  void HideIn(workers::v1::Worker* worker) const;
  void HideIn(checkpoints::v1::Alias* alias) const;
  void HideIn(reports::v1::Report* report) const;
};

}  // namespace ordo::scheduler

#endif  // ORDO_SCHEDULER_BOUND_VIEW_H_
