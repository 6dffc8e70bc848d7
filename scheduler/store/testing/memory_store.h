#ifndef ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_
#define ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::store::testing {

// The specs of all jobs that a Memory was given. Thread-safe.
class MemorySpecs : public core::SpecSource {
 public:
  absl::StatusOr<core::SpecPtr> ReadSpec(int64_t id) override;
  // Takes in the spec that a handle holds, and gives its number; nothing when
  // it cannot be read, or is here already.
  std::optional<int64_t> Take(const core::SpecHandle& handle);
  // Every later read fails with this, until it is OK.
  void Fail(const absl::Status& status);
  int num_reads() const;

 private:
  mutable base::Mutex mutex_;
  // Their numbers are their places.
  std::vector<core::SpecPtr> specs_ ORDO_GUARDED_BY(mutex_);
  absl::Status failure_ ORDO_GUARDED_BY(mutex_);
  int num_reads_ ORDO_GUARDED_BY(mutex_) = 0;
};

// What a MemoryStore holds; lives on when that is closed. Thread-safe.
class Memory {
 public:
  MemorySpecs& specs() { return *specs_; }
  // Every later commit fails with this, until it is OK.
  void Fail(const absl::Status& status);
  // All that it holds, also of jobs that have ended.
  core::Records All() const;
  // The process that uses it dies before the write of this number, from 1 on:
  // each record and the end of each commit is one, and either side of what
  // Retire does at once. Everything fails from then on, until Revive; which
  // says whether it has come to that.
  void DieAt(int write);
  bool Revive();
  // Commits wait until Continue.
  void Hold();
  void Continue();
  // Number of commits that have begun, and that have ended well.
  int num_begun() const;
  int num_committed() const;
  // Waits until so many commits have begun.
  void WaitUntilBegun(int count);

 private:
  friend class MemoryStore;
  struct Held {
    std::map<int64_t, core::JobPtr> jobs;
    std::map<std::string, core::CheckpointPtr> checkpoints;
    std::map<std::string, core::ReportPtr> reports;
    std::map<std::pair<core::Row::Kind, std::string>, core::RowPtr> rows;
    // By id.
    std::map<std::string, core::RetiredJob> retired;
    int64_t last_sequence = 0;
  };

  static void Put(const core::Record& record, Held* held);
  // Whether the process is alive after a write.
  bool SurvivesWrite() ORDO_REQUIRES(mutex_);

  // On its own: jobs that this holds hold it too.
  const std::shared_ptr<MemorySpecs> specs_ = std::make_shared<MemorySpecs>();
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  int64_t epoch_ ORDO_GUARDED_BY(mutex_) = 0;
  Held held_records_ ORDO_GUARDED_BY(mutex_);
  absl::Status failure_ ORDO_GUARDED_BY(mutex_);
  // Writes before death; 0: it is dead; less: it lives for ever.
  int writes_left_ ORDO_GUARDED_BY(mutex_) = -1;
  bool held_ ORDO_GUARDED_BY(mutex_) = false;
  int num_begun_ ORDO_GUARDED_BY(mutex_) = 0;
  int num_committed_ ORDO_GUARDED_BY(mutex_) = 0;
};

// A store in memory that fails or waits on demand.
class MemoryStore : public Store, public Reader {
 public:
  explicit MemoryStore(std::shared_ptr<Memory> memory)
      : memory_(std::move(memory)) {}

  absl::StatusOr<Contents> Load() override;
  absl::Status Commit(const std::vector<core::Record>& records) override;
  absl::Status Retire(const std::vector<std::string>& jobs,
                      const std::vector<core::RowPtr>& rows) override;
  Reader& reader() override { return *this; }

  absl::StatusOr<core::JobPtr> FindJob(const std::string& job) override;
  absl::StatusOr<PastJobs> FindPast(
      const std::vector<std::string>& jobs,
      const std::vector<std::string>& request_ids) override;
  absl::StatusOr<ExpiredJobs> FindExpired(const ExpiredQuery& query) override;
  absl::StatusOr<core::SpecPtr> FindSpec(int64_t id) override;
  absl::StatusOr<Found<core::JobPtr>> ListEnded(
      const EndedQuery& query) override;
  absl::StatusOr<std::map<core::JobState, int64_t>> CountEnded() override;
  absl::StatusOr<std::vector<std::string>> DeletedCheckpoints(
      const std::string& after, int limit) override;
  absl::StatusOr<core::CheckpointPtr> FindCheckpoint(
      const std::string& name) override;
  absl::StatusOr<core::ReportPtr> FindReport(const std::string& name) override;
  absl::StatusOr<Found<core::CheckpointPtr>> ListCheckpoints(
      const ArtifactQuery& query) override;
  absl::StatusOr<Found<core::ReportPtr>> ListReports(
      const ArtifactQuery& query) override;

 private:
  // Whose jobs `is_wanted`, with all that belongs to them.
  std::vector<core::PastJob> PastOf(
      const std::function<bool(const core::JobRecord&)>& is_wanted);

  const std::shared_ptr<Memory> memory_;
};

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_
