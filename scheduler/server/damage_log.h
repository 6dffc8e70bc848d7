#ifndef ORDO_SCHEDULER_SERVER_DAMAGE_LOG_H_
#define ORDO_SCHEDULER_SERVER_DAMAGE_LOG_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "scheduler/metrics.h"

namespace ordo::scheduler::server {

// Tells what of the store could not be read and was left out: each once, in the
// log and as a metric. Remembers kMaxKnown of them; those beyond are neither
// logged nor counted. Thread-safe.
class DamageLog {
 public:
  static constexpr size_t kMaxKnown = 1000;

  // `metrics` is not owned and outlives this.
  explicit DamageLog(SchedulerMetrics& metrics) : metrics_(metrics) {}

  // DATA_LOSS, as in store::Found. Other errors are no damage: they are logged
  // only, each once too.
  void Add(const std::vector<absl::Status>& damage);

 private:
  SchedulerMetrics& metrics_;
  base::Mutex mutex_;
  std::set<std::string> known_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_DAMAGE_LOG_H_
