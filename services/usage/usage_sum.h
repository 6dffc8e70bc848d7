#ifndef ORDO_SERVICES_USAGE_USAGE_SUM_H_
#define ORDO_SERVICES_USAGE_USAGE_SUM_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/usage/v1/usage.pb.h"

namespace ordo::services::usage {

// Sums up the device-seconds of attempts from a time on. An attempt's record
// says how many it had at its end; those before its trainer reported were its
// first, those that were lost its last. One that goes on is counted up to now,
// with nothing lost so far. There are kMaxUsageRows rows at most, and that of
// the others (scheduler/past_usage.h). Not thread-safe.
class UsageSum {
 public:
  using By = ordo::usage::v1::ReportUsageRequest::By;

  UsageSum(By by, absl::Time since, absl::Time now)
      : by_(by), since_(since), now_(now) {}

  // Every job once, those that are to have rows first.
  void Add(const ordo::jobs::v1::Job& job);
  // Every queue and owner once.
  void AddArchived(const ordo::usage::v1::ArchivedUsage& archived);

  ordo::usage::v1::ReportUsageResponse Report() const;

 private:
  // The row of this name, or that of the others.
  ordo::usage::v1::Usage& RowOf(const std::string& key);
  // Days count whole.
  void AddPast(const ordo::usage::v1::PastUsage& past,
               ordo::usage::v1::Usage* sum) const;

  const By by_;
  const absl::Time since_;
  const absl::Time now_;
  std::map<std::string, ordo::usage::v1::Usage> rows_;
};

}  // namespace ordo::services::usage

#endif  // ORDO_SERVICES_USAGE_USAGE_SUM_H_
