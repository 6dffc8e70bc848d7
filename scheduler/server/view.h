#ifndef ORDO_SCHEDULER_SERVER_VIEW_H_
#define ORDO_SCHEDULER_SERVER_VIEW_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/explain.h"
#include "scheduler/core/load.h"
#include "scheduler/core/transitions.h"
#include "scheduler/scheduler.h"
#include "scheduler/server/archived_usage.h"
#include "scheduler/server/queue_view.h"
#include "scheduler/server/registry_view.h"

namespace ordo::scheduler::server {

// A job that has not ended, and how far it is; null: it does not run.
struct SeenJob {
  core::JobPtr record;
  std::shared_ptr<const jobs::v1::Progress> progress;
};
// As the API shows it. May read its spec, with the errors of core::SpecSource.
absl::StatusOr<jobs::v1::Job> Present(const SeenJob& seen);

// Jobs of a listing, newest first.
struct SeenJobs {
  std::vector<SeenJob> items;
  // Set when it ended early: nothing older than this sequence was looked at.
  std::optional<int64_t> next;
};

// What reads of the API see of the jobs that have not ended, of queues and of
// workers: committed records, and what workers last said. Written by the thread
// that commits, after each commit. Listings go by index. Thread-safe.
class View {
 public:
  // Jobs that one listing looks at: filters may hardly meet.
  static constexpr int kMaxLooks = 4096;

  // A view of records that are committed; how many jobs have ended, by state.
  View(const core::Records& records,
       const std::map<core::JobState, int64_t>& ended);

  // One that has ended leaves the view: its last record. True when the job is
  // new or its state is another than before.
  bool PutJob(core::JobPtr job);
  // These have left the store.
  void TakeRetired(const std::vector<core::PastJob>& jobs);
  // Null takes it back.
  void PutWorker(const std::string& worker,
                 std::shared_ptr<const workers::v1::Worker> value);
  // What people set and named, and what archived jobs used; rows of other kinds
  // are not shown.
  void PutRow(const core::RowPtr& row);
  void PutProgress(const std::string& job,
                   std::shared_ptr<const jobs::v1::Progress> value);

  // Nothing when the job has ended, or there is none.
  std::optional<SeenJob> FindJob(const std::string& job) const;
  // The newest of a smaller sequence than `before`, newest first.
  SeenJobs ListJobs(const JobFilter& filter, int64_t before, int limit) const;
  // Nothing when the job has ended, or there is none. `placing`: what the core
  // says of it now, if it is queued. May read its spec, as Present.
  absl::StatusOr<std::optional<jobs::v1::ExplainResponse>> Explain(
      const std::string& job, absl::Time now,
      const std::optional<core::Placing>& placing) const;
  // As in scheduler::Scheduler.
  absl::StatusOr<workers::v1::Worker> GetWorker(
      const std::string& worker) const;
  absl::StatusOr<Listing<workers::v1::Worker>> ListWorkers(
      const Page& page) const;

  absl::StatusOr<queues::v1::Queue> GetQueue(const std::string& queue) const;
  Listing<queues::v1::Queue> ListQueues(const Page& page) const;
  absl::StatusOr<checkpoints::v1::Alias> GetAlias(
      const std::string& alias) const;
  Listing<checkpoints::v1::Alias> ListAliases(const Page& page) const;
  // As RegistryView.ShowNames, of each.
  void ShowNames(std::vector<checkpoints::v1::Checkpoint>* checkpoints) const;
  std::vector<StoredToken> ListTokens() const;
  const ArchivedUsage& archived_usage() const { return archived_usage_; }

  // Number of jobs by state, in the order of core::kJobStates.
  std::array<int64_t, std::size(core::kJobStates)> CountJobs() const;
  // Number of jobs that have not ended, by the reason of their state.
  std::map<std::string, int64_t> CountReasons() const;
  // Number of workers by workers::v1::Worker::State.
  std::map<int, int64_t> CountWorkers() const;
  // Number of devices of the workers that are known, by kind and state, as the
  // metric ordo_scheduler_state_devices has them.
  std::map<std::pair<std::string, std::string>, int64_t> CountDevices() const;

 private:
  void PutToken(const core::Row& row);
  void Index(const core::JobPtr& job) ORDO_REQUIRES(mutex_);
  void CountReason(const core::JobRecord& job, int64_t change)
      ORDO_REQUIRES(mutex_);
  void Remove(const core::JobRecord& job) ORDO_REQUIRES(mutex_);
  SeenJob WithProgress(const core::JobPtr& job) const ORDO_REQUIRES(mutex_);
  // Those of the jobs that it needs which have not ended.
  std::vector<std::string> Needed(const core::JobRecord& job) const
      ORDO_REQUIRES(mutex_);

  ArchivedUsage archived_usage_;

  mutable base::Mutex mutex_;
  absl::flat_hash_map<std::string, int64_t> sequences_ ORDO_GUARDED_BY(mutex_);
  absl::btree_map<int64_t, core::JobPtr> jobs_ ORDO_GUARDED_BY(mutex_);
  // Sequences by term, such as "state=1", "owner=ada", "label=k=v",
  // "parent=s".
  absl::flat_hash_map<std::string, absl::btree_set<int64_t>> terms_
      ORDO_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, std::shared_ptr<const jobs::v1::Progress>>
      progress_ ORDO_GUARDED_BY(mutex_);
  std::map<core::JobState, int64_t> ended_ ORDO_GUARDED_BY(mutex_);
  // Of jobs_.
  absl::flat_hash_map<std::string, int64_t> reasons_ ORDO_GUARDED_BY(mutex_);
  QueueView queues_ ORDO_GUARDED_BY(mutex_);
  RegistryView registry_ ORDO_GUARDED_BY(mutex_);
  // By the digest of the secret.
  std::map<std::string, access::v1::Token> tokens_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const workers::v1::Worker>> workers_
      ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_VIEW_H_
