#ifndef ORDO_SERVICES_JOBS_LOG_SOURCE_H_
#define ORDO_SERVICES_JOBS_LOG_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/scheduler.h"
#include "services/files/registered_file.h"
#include "services/files/stream_reactor.h"

namespace ordo::services::jobs {

// Most bytes of one message of a log.
inline constexpr size_t kMaxLogPartBytes = 64 << 10;

// The log of a job, or its metrics, part by part, for a files::StreamReactor.
// Not thread-safe.
class LogSource {
 public:
  // Checks the request. INVALID_ARGUMENT by field; NOT_FOUND when there is no
  // such job.
  static absl::StatusOr<std::unique_ptr<LogSource>> Make(
      std::shared_ptr<const scheduler::Scheduler> scheduler,
      const files::Storage& storage,
      const ordo::jobs::v1::ReadLogsRequest& request);

  // The next part. Without `follow` the end is where the log ended when it was
  // opened, and a job that has not started is FAILED_PRECONDITION. With it the
  // end is reached when the job has ended and its last log is read to its end.
  // NOT_FOUND: the job will not have or has not had that attempt.
  // OUT_OF_RANGE: the log ends before the offset.
  absl::StatusOr<files::StreamStep> Next(
      ordo::jobs::v1::ReadLogsResponse* response);

 private:
  LogSource(std::shared_ptr<const scheduler::Scheduler> scheduler,
            const files::Storage& storage, std::string job,
            const ordo::jobs::v1::ReadLogsRequest& request)
      : scheduler_(std::move(scheduler)),
        storage_(storage),
        job_(job),
        attempt_(request.attempt()),
        rank_(request.rank()),
        metrics_(request.metrics()),
        offset_(request.offset()),
        follow_(request.follow()) {}

  // Each of these says kSend when the next stage can go on.
  absl::StatusOr<files::StreamStep> FindAttempt();
  absl::StatusOr<files::StreamStep> GoOnAfterEnd();
  absl::Status Open();
  // Empty at the end.
  absl::StatusOr<std::string> Read();

  const std::shared_ptr<const scheduler::Scheduler> scheduler_;
  const files::Storage storage_;
  const std::string job_;
  int32_t attempt_;
  const int32_t rank_;
  const bool metrics_;
  int64_t offset_;
  const bool follow_;

  bool attempt_found_ = false;
  // The attempt was over before the last read: its log does not grow.
  bool attempt_over_ = false;
  std::unique_ptr<base::ReadableFile> file_;
  // Where to stop without `follow_`.
  int64_t end_ = 0;
};

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_LOG_SOURCE_H_
