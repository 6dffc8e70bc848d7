#ifndef ORDO_SCHEDULER_SERVER_USAGE_H_
#define ORDO_SCHEDULER_SERVER_USAGE_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/job.h"

namespace ordo::scheduler::server {

// Sums up the device-seconds of attempts from a time on. An attempt's record
// says how many it had at its end; those before its trainer reported were its
// first, those that were lost its last. One that goes on is counted up to now,
// with nothing lost so far. Not thread-safe.
class UsageSum {
 public:
  using By = usage::v1::ReportUsageRequest::By;

  UsageSum(By by, absl::Time since, absl::Time now)
      : by_(by), since_(since), now_(now) {}

  // Every job once.
  void Add(const core::JobRecord& job);

  usage::v1::ReportUsageResponse Report() const;

 private:
  const By by_;
  const absl::Time since_;
  const absl::Time now_;
  std::map<std::string, usage::v1::Usage> rows_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_USAGE_H_
