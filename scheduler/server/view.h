#ifndef ORDO_SCHEDULER_SERVER_VIEW_H_
#define ORDO_SCHEDULER_SERVER_VIEW_H_

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"
#include "scheduler/core/transitions.h"
#include "scheduler/scheduler.h"
#include "scheduler/server/queue_view.h"

namespace ordo::scheduler::server {

// Everything that reads of the API see: committed records, and what workers
// last said. Written by the thread that commits, after each commit. Listings go
// by index. Thread-safe.
class View {
 public:
  // A view of records that are committed.
  explicit View(const core::Records& records);

  // True when the job is new or its state is another than before.
  bool PutJob(core::JobPtr job);
  void PutCheckpoint(core::CheckpointPtr checkpoint);
  void PutReport(core::ReportPtr report);
  // Null takes it back.
  void PutWorker(const std::string& worker,
                 std::shared_ptr<const workers::v1::Worker> value);
  // What people set; rows of other kinds are not shown.
  void PutRow(const core::Row& row);
  void PutProgress(const std::string& job,
                   std::shared_ptr<const jobs::v1::Progress> value);

  // As in scheduler::Scheduler.
  absl::StatusOr<jobs::v1::Job> GetJob(const std::string& job) const;
  absl::StatusOr<Listing<jobs::v1::Job>> ListJobs(const JobFilter& filter,
                                                  const Page& page) const;
  absl::StatusOr<jobs::v1::ExplainResponse> Explain(const std::string& job,
                                                    absl::Time now) const;
  absl::StatusOr<checkpoints::v1::Checkpoint> GetCheckpoint(
      const std::string& job, const std::string& checkpoint) const;
  absl::StatusOr<Listing<checkpoints::v1::Checkpoint>> ListCheckpoints(
      const std::string& job, const Page& page) const;
  absl::StatusOr<reports::v1::Report> GetReport(
      const std::string& job, const std::string& report) const;
  absl::StatusOr<Listing<reports::v1::Report>> ListReports(
      const std::string& job, const Page& page) const;
  absl::StatusOr<workers::v1::Worker> GetWorker(
      const std::string& worker) const;
  absl::StatusOr<Listing<workers::v1::Worker>> ListWorkers(
      const Page& page) const;
  absl::StatusOr<queues::v1::Queue> GetQueue(const std::string& queue) const;
  Listing<queues::v1::Queue> ListQueues(const Page& page) const;
  usage::v1::ReportUsageResponse Usage(usage::v1::ReportUsageRequest::By by,
                                       absl::Time since, absl::Time now) const;

  // Number of jobs by state, in the order of core::kJobStates.
  std::array<int64_t, std::size(core::kJobStates)> CountJobs() const;
  // Number of workers by workers::v1::Worker::State.
  std::map<int, int64_t> CountWorkers() const;

 private:
  // Checkpoints or reports: newest first is the order of creation backwards.
  template <typename T>
  struct Artifacts {
    using Key = std::pair<int64_t, std::string>;  // nanoseconds, name
    std::map<std::string, Key> by_name;
    std::map<Key, std::shared_ptr<const T>> all;
    std::unordered_map<std::string, std::set<Key>> by_job;
  };

  template <typename T>
  static void Put(std::shared_ptr<const T> value, Artifacts<T>* artifacts);
  template <typename T>
  static absl::StatusOr<Listing<T>> List(const Artifacts<T>& artifacts,
                                         const std::string& job,
                                         const Page& page);
  absl::Status CheckJob(const std::string& job) const ORDO_REQUIRES(mutex_);
  jobs::v1::Job WithProgress(const core::JobRecord& job) const
      ORDO_REQUIRES(mutex_);
  int JobsAhead(const core::JobRecord& job) const ORDO_REQUIRES(mutex_);
  // Those of the jobs that it needs which have not ended.
  std::vector<std::string> Needed(const core::JobRecord& job) const
      ORDO_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::unordered_map<std::string, int64_t> sequences_ ORDO_GUARDED_BY(mutex_);
  std::map<int64_t, core::JobPtr> jobs_ ORDO_GUARDED_BY(mutex_);
  // Sequences by term, such as "state=1", "owner=ada", "label=k=v".
  std::unordered_map<std::string, std::set<int64_t>> terms_
      ORDO_GUARDED_BY(mutex_);
  // Queued jobs by kind of device.
  std::map<std::string, std::set<int64_t>> queued_ ORDO_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<const jobs::v1::Progress>>
      progress_ ORDO_GUARDED_BY(mutex_);
  QueueView queues_ ORDO_GUARDED_BY(mutex_);
  Artifacts<checkpoints::v1::Checkpoint> checkpoints_ ORDO_GUARDED_BY(mutex_);
  Artifacts<reports::v1::Report> reports_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const workers::v1::Worker>> workers_
      ORDO_GUARDED_BY(mutex_);
};

}  // namespace ordo::scheduler::server

#endif  // ORDO_SCHEDULER_SERVER_VIEW_H_
