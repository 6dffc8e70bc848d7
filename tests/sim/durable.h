#ifndef ORDO_TESTS_SIM_DURABLE_H_
#define ORDO_TESTS_SIM_DURABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/ordo/reports/v1/reports.pb.h"
#include "proto/ordo/training/v1/progress.pb.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"
#include "scheduler/core/state.h"
#include "scheduler/policy/facts.h"
#include "worker/agent/core.h"

// All that the simulation knows of the form of the core's records and state.

namespace ordo::tests::sim {

// A job in short.
struct JobView {
  std::string id;
  int64_t sequence = 0;
  int64_t version = 0;
  scheduler::core::JobState state = jobs::v1::Job::STATE_UNSPECIFIED;
  std::string reason;
  // Number of its newest attempt; 0: none.
  int32_t attempt = 0;
  int32_t failed_attempts = 0;
  int32_t interruptions = 0;
  bool held = false;
  // It waits until a time that its record names.
  bool backs_off = false;
  int32_t priority = 0;
  // Why its live attempt is to stop; empty: it is not.
  std::string stopped_for;
  // What its spec says.
  scheduler::core::FactsPtr facts;
  // Of its newest attempt.
  bool has_repeated_warning = false;
  // How that began, by its record, when that says with what state it ended.
  std::optional<training::v1::TrainerStarted> began;
};

JobView ViewOf(const scheduler::core::JobRecord& job);
// All jobs of a state, by id.
std::vector<JobView> JobsOf(const scheduler::core::State& state);

// Whether this is a rank of the newest attempt of a job, and not over.
bool IsLive(const scheduler::core::State& state,
            const worker::agent::AttemptKey& key);

// A rank of an attempt that is not over, and where.
struct LiveAttempt {
  worker::agent::AttemptKey key;
  std::string worker;
  std::vector<std::string> devices;
  // On the scheduler's monotonic clock: when its run-time limit has struck and
  // the grace is over; infinite without a limit.
  absl::Duration ends_by = absl::InfiniteDuration();
  std::string queue;
  std::string owner;
  // It has been told to stop.
  bool stopping = false;
  // By what its worker says now, a device lacks a kernel that the job names.
  bool lacks_kernel = false;
};
std::vector<LiveAttempt> LiveAttempts(const scheduler::core::State& state);

// The queue that a row tells of, as placement is to see it; none: the row tells
// of something else, or of a queue that is deleted.
std::optional<scheduler::policy::Queue> QueueIn(
    const scheduler::core::Row& row);

// The devices in quarantine, when the row is a worker's.
std::optional<std::set<std::string>> QuarantineIn(
    const scheduler::core::Row& row);

// How many devices the queue may hold.
int LimitOf(const scheduler::policy::Queue& queue);
int GuaranteedOf(const scheduler::policy::Queue& queue);

// Resource names of the checkpoints that are available, and that are deleted.
std::vector<std::string> AvailableCheckpoints(
    const scheduler::core::Records& records);
std::vector<std::string> DeletedCheckpoints(
    const scheduler::core::Records& records);
// Of those that are available, the ones that have lost the optimizer's state.
std::vector<std::string> ThinnedCheckpoints(
    const scheduler::core::Records& records);
// What people have named: aliases by id, and checkpoints that they have pinned.
std::vector<std::string> AliasesIn(const scheduler::core::Records& records);
std::vector<std::string> PinsIn(const scheduler::core::Records& records);

// Records as a store holds them.
class Durable {
 public:
  void Reset(const scheduler::core::Records& records);
  void Put(const scheduler::core::Record& record);
  // INTERNAL, naming the first difference, unless these are the durable part of
  // the state; but for jobs that have ended, which the state may lack.
  absl::Status CheckEquals(const scheduler::core::State& state) const;

  // By id.
  const std::map<std::string, JobView>& jobs() const { return views_; }
  const JobView* Find(const std::string& job) const;
  bool HasCheckpoint(const std::string& name) const {
    return checkpoints_.count(name) > 0;
  }
  // Whether all that aliases and pins name is there.
  absl::Status CheckNamed() const;
  // What a report was the answer to; empty: it is not there.
  std::string KeyOf(const std::string& report) const {
    const auto found = reports_.find(report);
    return found == reports_.end() ? "" : found->second->key();
  }
  // Whether a job has any.
  bool HasCheckpointOf(const std::string& job) const;
  // Whether one of these is there and has a finite score in a report of the
  // job.
  bool HasScoredCheckpointOf(const std::string& job) const;
  // What a job scored, by step.
  std::map<int64_t, double> ScoresOf(
      const std::string& job, const scheduler::core::Criterion& by) const;

 private:
  void PutJob(const scheduler::core::JobPtr& job);

  std::map<std::string, JobView> views_;
  std::map<int64_t, scheduler::core::JobPtr> jobs_;
  std::map<std::string, scheduler::core::CheckpointPtr> checkpoints_;
  std::map<std::string, scheduler::core::ReportPtr> reports_;
  std::map<std::pair<scheduler::core::Row::Kind, std::string>,
           scheduler::core::RowPtr>
      rows_;
};

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_DURABLE_H_
