#ifndef ORDO_SERVICES_LIMITS_LIMITS_H_
#define ORDO_SERVICES_LIMITS_LIMITS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock/clock.h"
#include "base/mutex.h"
#include "base/rpc/server.h"

namespace ordo::services::limits {

struct LimitsOptions {
  // Calls that each user may make in a second, in the long run; a job of a
  // batch counts as one, and so does a part of a sweep, comparison or pipeline
  // that is created, or given back to a call that is repeated. 0: any number.
  // More than one machine submits, so that only a program that has run wild
  // meets it.
  int64_t calls_per_second = 200'000;
  // Calls that a user may make at once after a pause: this many seconds of
  // calls_per_second.
  int64_t burst_seconds = 2;
  // Watches, logs and files that are being read, of one user and of all. Each
  // holds memory for one message.
  int64_t streams_per_user = 4096;
  int64_t streams = 8192;
  // Calls of all users, beside streams, that wait for files: usage is counted,
  // an upload comes in, or data is looked up. Each holds its request.
  int64_t file_calls = 1024;
};

// A stream that counts until the last copy is gone.
using OpenStream = std::shared_ptr<const void>;

// How much callers may ask for. What is above is RESOURCE_EXHAUSTED, and names
// the limit. Users are told apart by the names that they are known by, or claim
// where they are believed; those without one are one user. Thread-safe;
// outlives what it hands out.
class Limits {
 public:
  // `clock` outlives this.
  Limits(const LimitsOptions& options, const base::Clock& clock)
      : options_(options), clock_(clock) {}

  // Counts calls of `caller`.
  absl::Status TakeCalls(const base::Caller& caller, int64_t num_calls = 1);

  // Counts what a call of `caller` that was let in turned out to ask for
  // beside: nothing is refused, and it is waited off as a batch is.
  void AddCalls(const base::Caller& caller, int64_t num_calls);

  // Counts a call and a stream of `caller`.
  absl::StatusOr<OpenStream> Open(const base::Caller& caller);

  // Streams that are open.
  int64_t num_streams() const;

 private:
  // Of one user. What it may still call grows with time, up to the burst.
  struct User {
    double calls_left = 0;
    absl::Duration counted;
    int64_t num_streams = 0;
  };

  User& FindUser(const std::string& user) ORDO_REQUIRES(mutex_);
  // Forgets users of whom nothing must be known.
  void ForgetIdle(absl::Duration now) ORDO_REQUIRES(mutex_);
  // Calls that a user may have saved up.
  double Burst() const;
  void Refill(absl::Duration now, User* user) const;
  // Of a user who has no call left: when there is one.
  absl::Duration UntilNext(const User& user) const;
  absl::Status TakeCallsLocked(const std::string& user, int64_t num_calls)
      ORDO_REQUIRES(mutex_);
  void Close(const std::string& user);

  const LimitsOptions options_;
  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  std::map<std::string, User> users_ ORDO_GUARDED_BY(mutex_);
  absl::Duration swept_ ORDO_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  int64_t num_streams_ ORDO_GUARDED_BY(mutex_) = 0;
};

// Users that are told apart at a time; further ones share one share.
inline constexpr size_t kMaxUsers = 4096;

}  // namespace ordo::services::limits

#endif  // ORDO_SERVICES_LIMITS_LIMITS_H_
