#ifndef ORDO_SCHEDULER_SERVER_ARCHIVIST_H_
#define ORDO_SCHEDULER_SERVER_ARCHIVIST_H_

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/mutex.h"
#include "scheduler/core/effect.h"
#include "scheduler/store/reader.h"

namespace ordo::scheduler::server {

// Which jobs that have ended leave the store.
struct RetentionOptions {
  // Those that ended longer ago than this.
  absl::Duration age = absl::InfiniteDuration();
  // All but so many that ended last; negative: any number stays.
  int64_t max_jobs = -1;
  // Where a line is kept of each that has left.
  std::string archive;
  // How often it is looked for them.
  absl::Duration period = absl::Minutes(1);
};

struct ArchivistOptions {
  RetentionOptions retention;
  // Not owned; outlive the archivist.
  store::Reader* reader = nullptr;
  const base::Clock* clock = nullptr;
  base::Filesystem* files = nullptr;
  // Those of these jobs that may leave now; they are not needed by anybody
  // until `let_go` is called.
  std::function<std::vector<core::PastJob>(std::vector<core::PastJob>)> claim;
  // Removes claimed jobs from the store.
  std::function<absl::Status(const std::vector<core::PastJob>&)> retire;
  std::function<void()> let_go;
  // Told which jobs stay since not all of them can be read, as in store::Found.
  std::function<void(const std::vector<absl::Status>&)> on_damage;
  // Told how a look ended: how many jobs have left, or why not all could.
  std::function<void(const absl::StatusOr<int64_t>&)> on_look;
};

// Writes jobs that have ended to the archive, and when their lines are durable
// removes them from the store, a thousand at a time. Without a limit in its
// options it does nothing. Thread-safe.
class Archivist {
 public:
  explicit Archivist(ArchivistOptions options);
  // Stops.
  ~Archivist();
  Archivist(const Archivist&) = delete;
  Archivist& operator=(const Archivist&) = delete;

  // Looks at once and then every period, on a thread of its own.
  void Start();
  // Ends after the jobs at hand.
  void Stop();

  // Looks once; how many jobs have left. DATA_LOSS when all have left but such
  // as are damaged.
  absl::StatusOr<int64_t> Look();

 private:
  bool IsOn() const;
  bool IsStopping();
  absl::StatusOr<int64_t> Move(std::vector<core::PastJob> expired);
  void Run();

  const ArchivistOptions options_;
  base::Mutex mutex_;
  base::CondVar changed_;
  bool stopping_ ORDO_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_ARCHIVIST_H_
