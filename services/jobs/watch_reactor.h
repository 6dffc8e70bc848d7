#ifndef ORDO_SERVICES_JOBS_WATCH_REACTOR_H_
#define ORDO_SERVICES_JOBS_WATCH_REACTOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "grpcpp/support/server_callback.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"
#include "services/files/slow_reader.h"
#include "services/files/work_queue.h"
#include "services/limits/limits.h"

namespace ordo::services::jobs {

// The stream of WatchJob. The scheduler's thread only leaves the newest job
// here; a work queue sends it when gRPC has taken the one before, so that
// changes which follow quickly become one message and a slow client costs one
// job of memory.
//
// Ends with OK after the job has ended, with UNAVAILABLE when the scheduler
// leaves, with CANCELLED when the client is gone or reads nothing for too long.
class WatchReactor final
    : public grpc::ServerWriteReactor<ordo::jobs::v1::WatchJobResponse>,
      public std::enable_shared_from_this<WatchReactor> {
 public:
  // What a watch works with; the reference outlives the server.
  struct Context {
    // As the caller sees it.
    std::shared_ptr<scheduler::Scheduler> scheduler;
    files::WorkQueue& queue;
    // Kept until the watch is over.
    limits::OpenStream open = nullptr;
    // Cut off when its client does not read; null: never.
    grpc::CallbackServerContext* call = nullptr;
  };

  // Starts to watch. gRPC owns the reactor. NOT_FOUND when there is no such
  // job.
  static absl::StatusOr<WatchReactor*> Start(const Context& context,
                                             const std::string& job,
                                             int64_t from_version);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  WatchReactor(const Context& context, int64_t from_version)
      : context_(context),
        from_version_(from_version),
        slow_reader_(context.queue, context.call) {}

  void OnJob(const ordo::jobs::v1::Job& job, bool last);
  // Has Send run soon.
  void Wake() ORDO_REQUIRES(mutex_);
  // Sends what is there, or finishes, if nothing is under way.
  void Send();

  const Context context_;
  const int64_t from_version_;
  files::SlowReader slow_reader_;
  // Keeps this alive until OnDone; calls that are under way hold it too.
  std::shared_ptr<WatchReactor> self_;
  // Read by gRPC while a write is under way, else changed by Send alone.
  ordo::jobs::v1::WatchJobResponse response_;

  base::Mutex mutex_;
  std::optional<int64_t> watch_ ORDO_GUARDED_BY(mutex_);
  std::optional<ordo::jobs::v1::Job> pending_ ORDO_GUARDED_BY(mutex_);
  bool first_ ORDO_GUARDED_BY(mutex_) = true;
  // No further job comes; whether this is because it has ended.
  bool last_ ORDO_GUARDED_BY(mutex_) = false;
  bool ended_ ORDO_GUARDED_BY(mutex_) = false;
  bool cancelled_ ORDO_GUARDED_BY(mutex_) = false;
  bool awake_ ORDO_GUARDED_BY(mutex_) = false;
  bool writing_ ORDO_GUARDED_BY(mutex_) = false;
  bool finished_ ORDO_GUARDED_BY(mutex_) = false;
};

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_WATCH_REACTOR_H_
