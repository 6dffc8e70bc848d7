#include "services/limits/limits.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/units/units.h"

namespace ordo::services::limits {
namespace {

// Longer names are cut: they are only claimed, and memory is ours.
constexpr size_t kMaxNameLength = 128;
// With all shares taken, idle ones are looked for this often.
constexpr absl::Duration kSweepPeriod = absl::Seconds(1);
// The share of those beyond kMaxUsers; no user's, for its blank.
constexpr char kOthers[] = "the others";

std::string NameOf(const base::Caller& caller) {
  return caller.user.substr(0, kMaxNameLength);
}

std::string Shown(const std::string& user) {
  return user.empty() ? "callers without a name" : user;
}

}  // namespace

double Limits::Burst() const {
  return static_cast<double>(options_.calls_per_second) *
         static_cast<double>(options_.burst_seconds);
}

void Limits::Refill(absl::Duration now, User* user) const {
  const double grown = absl::ToDoubleSeconds(now - user->counted) *
                       static_cast<double>(options_.calls_per_second);
  user->calls_left = std::min(Burst(), user->calls_left + grown);
  user->counted = now;
}

absl::Duration Limits::UntilNext(const User& user) const {
  // Whole seconds, and at least one: who comes too early is told again.
  return absl::Ceil(
      absl::Seconds(-user.calls_left /
                    static_cast<double>(options_.calls_per_second)) +
          absl::Nanoseconds(1),
      absl::Seconds(1));
}

void Limits::ForgetIdle(absl::Duration now) {
  const double burst = Burst();
  for (auto user = users_.begin(); user != users_.end();) {
    Refill(now, &user->second);
    const bool idle =
        user->second.num_streams == 0 && user->second.calls_left >= burst;
    user = idle ? users_.erase(user) : std::next(user);
  }
}

Limits::User& Limits::FindUser(const std::string& user) {
  const auto found = users_.find(user);
  if (found != users_.end()) return found->second;
  const absl::Duration now = clock_.Monotonic();
  if (users_.size() >= kMaxUsers && now >= swept_ + kSweepPeriod) {
    swept_ = now;
    ForgetIdle(now);
  }
  const bool full = users_.size() >= kMaxUsers;
  const auto [added, is_new] = users_.try_emplace(full ? kOthers : user);
  if (is_new) {
    added->second.calls_left = Burst();
    added->second.counted = now;
  }
  return added->second;
}

absl::Status Limits::TakeCallsLocked(const std::string& user,
                                     int64_t num_calls) {
  if (options_.calls_per_second == 0) return absl::OkStatus();
  User& share = FindUser(user);
  Refill(clock_.Monotonic(), &share);
  // One that has any left may go on: a batch is never too large to begin.
  if (share.calls_left <= 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        Shown(user), " made more than ", options_.calls_per_second,
        " calls a second, each job of a batch and each part counted (limit "
        "calls_per_second of the scheduler's configuration); the next is taken "
        "in ",
        base::HumanDuration(UntilNext(share))));
  }
  share.calls_left -= static_cast<double>(num_calls);
  return absl::OkStatus();
}

absl::Status Limits::TakeCalls(const base::Caller& caller, int64_t num_calls) {
  base::MutexLock lock(mutex_);
  return TakeCallsLocked(NameOf(caller), num_calls);
}

void Limits::AddCalls(const base::Caller& caller, int64_t num_calls) {
  if (options_.calls_per_second == 0) return;
  base::MutexLock lock(mutex_);
  User& share = FindUser(NameOf(caller));
  Refill(clock_.Monotonic(), &share);
  share.calls_left -= static_cast<double>(num_calls);
}

absl::StatusOr<OpenStream> Limits::Open(const base::Caller& caller) {
  const std::string user = NameOf(caller);
  base::MutexLock lock(mutex_);
  if (absl::Status status = TakeCallsLocked(user, 1); !status.ok()) {
    return status;
  }
  if (num_streams_ >= options_.streams) {
    return absl::ResourceExhaustedError(absl::StrCat(
        options_.streams,
        " streams are open (limit streams of the "
        "scheduler's configuration); close some, or try again later"));
  }
  User& share = FindUser(user);
  if (share.num_streams >= options_.streams_per_user) {
    return absl::ResourceExhaustedError(
        absl::StrCat(Shown(user), " has ", share.num_streams,
                     " streams open (limit streams_per_user of the scheduler's "
                     "configuration); close some"));
  }
  ++num_streams_;
  ++share.num_streams;
  const std::string counted = users_.count(user) > 0 ? user : kOthers;
  return OpenStream(this, [this, counted](const void*) { Close(counted); });
}

void Limits::Close(const std::string& user) {
  base::MutexLock lock(mutex_);
  --num_streams_;
  const auto found = users_.find(user);
  if (found != users_.end()) --found->second.num_streams;
}

int64_t Limits::num_streams() const {
  base::MutexLock lock(mutex_);
  return num_streams_;
}

}  // namespace ordo::services::limits
