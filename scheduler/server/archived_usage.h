#ifndef ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_
#define ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_

#include <map>
#include <string>
#include <vector>

#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {

// What jobs that have left for the archive used: rows of kind kUsage, one for
// each queue and owner. Not thread-safe.
class ArchivedUsage {
 public:
  // A row as it is stored.
  void Put(const core::Row& row);

  // The rows that are others when these jobs leave too.
  std::vector<core::RowPtr> With(const std::vector<core::PastJob>& jobs) const;

  // By queue and owner.
  std::vector<usage::v1::ArchivedUsage> List() const;

 private:
  std::map<std::string, usage::v1::ArchivedUsage> rows_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_
