#include "scheduler/server/damage_log.h"

#include "base/log/log.h"

namespace ordo::scheduler::server {

void DamageLog::Add(const std::vector<absl::Status>& damage) {
  for (const absl::Status& each : damage) {
    {
      base::MutexLock lock(mutex_);
      if (known_.size() == kMaxKnown ||
          !known_.emplace(each.message()).second) {
        continue;
      }
    }
    if (!absl::IsDataLoss(each)) {
      base::LogWarning("a record in the store could not be read this time",
                       {{"error", each}});
      continue;
    }
    metrics_.damaged_records.With({}).Increment();
    base::LogError("a record in the store cannot be read and is left out",
                   {{"error", each}});
  }
}

}  // namespace ordo::scheduler::server
