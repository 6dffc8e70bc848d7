#ifndef ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_
#define ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/effect.h"

namespace ordo::scheduler::server {

// What jobs that have left for the archive used: rows of kind kUsage, one for
// each queue and owner, kMaxUsageRows at most and that of the others, as they
// are stored. Thread-safe; rows are changed by one thread.
class ArchivedUsage {
 public:
  // A row is new, or another than before, or gone.
  void Put(const core::RowPtr& row);

  // The rows that are others when these jobs leave too.
  std::vector<core::RowPtr> With(const std::vector<core::PastJob>& jobs) const;

  // By queue and owner.
  std::vector<core::RowPtr> rows() const;

 private:
  // Rows that change, by key.
  struct Change {
    std::map<std::string, usage::v1::ArchivedUsage> rows;
    // Of them, those that were not there.
    size_t num_added = 0;
  };

  // The row of a queue and an owner among those that change.
  usage::v1::ArchivedUsage& RowOf(const std::string& queue,
                                  const std::string& owner,
                                  Change* change) const;

  mutable base::Mutex mutex_;
  std::map<std::string, core::RowPtr> rows_ ORDO_GUARDED_BY(mutex_);
};

// What a row says. It was written here, or read by the core at the start.
usage::v1::ArchivedUsage ParseUsageRow(const core::Row& row);

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_ARCHIVED_USAGE_H_
