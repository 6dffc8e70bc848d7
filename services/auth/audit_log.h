#ifndef ORDO_SERVICES_AUTH_AUDIT_LOG_H_
#define ORDO_SERVICES_AUTH_AUDIT_LOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/files/files.h"
#include "base/mutex.h"

namespace ordo::services::auth {

// Something that somebody did, or was not allowed to do.
struct AuditEntry {
  std::string user;
  // As Visitor.known_by.
  std::string known_by;
  // Without the port.
  std::string address;
  // "ordo.jobs.v1.JobsService/CancelJob".
  std::string method;
  // What it was done to, such as "jobs/a"; empty: the request names nothing.
  std::string resource;
  // The request's id, and the trace that the call is part of (traceparent);
  // empty: the caller gave none.
  std::string request_id = {};
  std::string trace = {};
  // How it ended.
  absl::Status result = {};
  // Refusals from this address before it that have no line of their own.
  int64_t num_left_out = 0;
};

// A line of JSON, with its end, in the order of the struct; `result` is the
// canonical code, `message` that of an error, which is cut where it is long.
std::string AuditLine(const AuditEntry& entry, absl::Time time);

// Entries as lines at the end of a file, which others may move away or cut: a
// second later it is opened anew. Lines that cannot be written are logged as
// errors, and lost; one that was written in part, on a full disk, spoils no
// other. Thread-safe.
class AuditLog {
 public:
  // Makes the file and its folder if they are missing. What is given outlives
  // this.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(
      base::Filesystem& files, const std::string& path,
      const base::Clock& clock);

  void Write(const AuditEntry& entry);

 private:
  AuditLog(base::Filesystem& files, std::string path, const base::Clock& clock)
      : files_(files), path_(std::move(path)), clock_(clock) {}

  absl::Status OpenFile() ORDO_REQUIRES(mutex_);
  // Whether the file at the path is no longer the one that is written.
  bool WasMoved() ORDO_REQUIRES(mutex_);

  base::Filesystem& files_;
  const std::string path_;
  const base::Clock& clock_;

  base::Mutex mutex_;
  // Null after an error, until it could be opened again.
  std::unique_ptr<base::WritableFile> file_ ORDO_GUARDED_BY(mutex_);
  uint64_t num_bytes_ ORDO_GUARDED_BY(mutex_) = 0;
  // Its last line has no end.
  bool is_torn_ ORDO_GUARDED_BY(mutex_) = false;
  absl::Duration looked_ ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::services::auth

#endif  // ORDO_SERVICES_AUTH_AUDIT_LOG_H_
