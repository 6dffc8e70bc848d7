#ifndef ORDO_WORKER_AGENT_CORE_H_
#define ORDO_WORKER_AGENT_CORE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/agent/v1/agent.pb.h"
#include "worker/agent/announce_schedule.h"
#include "worker/agent/facts.h"

// What a worker should do: a pure state machine from desired sets, journals and
// progress records to actions and an observed set. No clock, file or process is
// touched here; the agent carries the actions out.

namespace ordo::worker::agent {

// One rank of an attempt of a job: what a machine runs.
struct AttemptKey {
  std::string job;
  int32_t attempt = 0;
  int32_t rank = 0;

  // The name of its task folder: "<job>.<attempt>.<rank>"; of rank 0 without
  // it, as the first release wrote and reads it.
  std::string ToString() const;
};
inline bool operator<(const AttemptKey& a, const AttemptKey& b) {
  return std::tie(a.job, a.attempt, a.rank) <
         std::tie(b.job, b.attempt, b.rank);
}
inline bool operator==(const AttemptKey& a, const AttemptKey& b) {
  return a.job == b.job && a.attempt == b.attempt && a.rank == b.rank;
}

// The inverse of AttemptKey::ToString; INVALID_ARGUMENT when the text is none.
absl::StatusOr<AttemptKey> ParseAttemptKey(std::string_view text);

struct Action {
  enum class Kind {
    // Start a supervisor for `task`.
    kStart,
    // Ask the supervisor to stop the trainer (with a checkpoint) or to kill it.
    kStop,
    kKill,
    // The attempt is over and acknowledged: remove what is kept of it.
    kForget,
  };
  Kind kind;
  AttemptKey key;
  // kStop and kKill.
  absl::Duration grace;
  // kStart.
  ::ordo::agent::v1::DesiredAttempt task;
};
using Actions = std::vector<Action>;

// Not thread-safe.
class Core {
 public:
  // At most this many durable records of an attempt in one observed set.
  static constexpr int kMaxRecordsSent = 64;
  // Ended attempts remembered, so that none is started a second time.
  static constexpr size_t kMaxForgotten = 4096;

  Core(std::string worker, std::string incarnation, std::string trainer);

  // A task that an earlier worker process started. Only before the first
  // desired set.
  void Adopt(const ::ordo::agent::v1::DesiredAttempt& task);

  // INVALID_ARGUMENT: another worker's, or malformed. FAILED_PRECONDITION: for
  // another incarnation. ABORTED: older than a set already taken.
  absl::StatusOr<Actions> SetDesired(
      const ::ordo::agent::v1::SetDesiredRequest& request);

  // From here on nothing is started, and all that runs is stopped.
  Actions Drain(absl::Duration grace);

  // The newest content of a journal. Give all progress records that were
  // written before it first.
  Actions OnFacts(const AttemptKey& key, const SupervisorFacts& facts);
  // The next progress record of an attempt; each exactly once, in order.
  void OnProgress(const AttemptKey& key,
                  const ::ordo::training::v1::ProgressRecord& record);
  // Some of an attempt's progress records are lost, and why; nothing happens
  // when `damage` is OK. Before the attempt's end is told.
  void OnDamage(const AttemptKey& key, const absl::Status& damage);
  // The supervisor could not be started: START_FAILED, HOST_FAILED or
  // FOLDER_TAKEN.
  Actions OnStartFailed(const AttemptKey& key,
                        ::ordo::agent::v1::ObservedAttempt::Cause cause,
                        const std::string& message);
  // The supervisor died before its journal was complete, and nothing is left of
  // its task.
  Actions OnSupervisorLost(const AttemptKey& key, const SupervisorFacts& facts);

  // Forgets what is over and no longer desired; call it after the above.
  Actions ForgetUnlisted();

  ::ordo::agent::v1::ObservedSet Observed() const;
  // One attempt, without its durable records; null when it is not known.
  // Valid until the next call that is not const.
  const ::ordo::agent::v1::ObservedAttempt* Find(const AttemptKey& key) const;
  // Grows with each change of the observed set.
  int64_t sequence() const { return sequence_; }
  // The most pressing of what has changed since the set of that sequence.
  News NewsSince(int64_t sequence) const;
  bool draining() const { return draining_; }
  // No attempt is known; none is running or about to.
  bool IsEmpty() const { return attempts_.empty(); }
  bool IsIdle() const;
  // Attempts that are neither waiting to start nor over.
  int NumRunning() const;
  // The devices that these are on.
  struct Held {
    std::set<std::string> devices;
    // One of them may be on any device.
    bool any = false;
  };
  Held HeldDevices() const;

 private:
  // How far an attempt was asked to end.
  enum class Ending { kNone, kStop, kKill };
  struct Attempt {
    ::ordo::agent::v1::DesiredAttempt task;
    ::ordo::agent::v1::ObservedAttempt observed;
    std::deque<::ordo::agent::v1::DurableRecord> records;
    int64_t num_records = 0;
    // When its trainer wrote its newest progress record; 1970: none yet.
    absl::Time last_record;
    // Why some of its progress records are lost; empty when none is.
    std::string damage;
    Ending ending = Ending::kNone;
    // Its supervisor was started (or is to be, by an action given out).
    bool started = false;
    // In the newest desired set.
    bool listed = true;
  };

  void TakeDesired(const ::ordo::agent::v1::DesiredAttempt& desired,
                   Actions* actions);
  void Add(const ::ordo::agent::v1::DesiredAttempt& desired);
  void RequestEnd(const AttemptKey& key, Ending ending, absl::Duration grace,
                  Actions* actions);
  // Fills in how an attempt ended.
  void Describe(const SupervisorFacts& facts, Attempt& attempt);
  // Marks an attempt as over, since `end` (1970: nobody knows), and does what
  // follows from it.
  Actions Exit(Attempt& attempt, absl::Time end);
  void Forget(const AttemptKey& key, Actions* actions);
  // Starts what waited for a device that is free now.
  void StartReady(Actions* actions);
  bool DevicesAreFree(const Attempt& attempt) const;
  void Changed(News news);

  const std::string worker_;
  const std::string incarnation_;
  const std::string trainer_;
  std::map<AttemptKey, Attempt> attempts_;
  // Ended and acknowledged; the deque has their order.
  std::set<AttemptKey> forgotten_;
  std::deque<AttemptKey> forgotten_order_;
  // (epoch, sequence) of the newest set taken.
  std::pair<int64_t, int64_t> newest_set_{0, 0};
  int64_t sequence_ = 1;
  // At the last change of this kind.
  int64_t urgent_sequence_ = 1;
  int64_t start_sequence_ = 1;
  bool draining_ = false;
};

}  // namespace ordo::worker::agent

#endif  // ORDO_WORKER_AGENT_CORE_H_
