#ifndef ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_
#define ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::store::testing {

// What a MemoryStore holds; lives on when that is closed. Thread-safe.
class Memory {
 public:
  // Every later commit fails with this, until it is OK.
  void Fail(const absl::Status& status);
  // The process that uses it dies before the write of this number, from 1 on:
  // each record and the end of each commit is one. Everything fails from then
  // on, until Revive; which says whether it has come to that.
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
  };

  static void Put(const core::Record& record, Held* held);
  // Whether the process is alive after a write.
  bool SurvivesWrite() ORDO_REQUIRES(mutex_);

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
class MemoryStore : public Store {
 public:
  explicit MemoryStore(std::shared_ptr<Memory> memory)
      : memory_(std::move(memory)) {}

  absl::StatusOr<Contents> Load() override;
  absl::Status Commit(const std::vector<core::Record>& records) override;

 private:
  const std::shared_ptr<Memory> memory_;
};

}  // namespace ordo::scheduler::store::testing

#endif  // ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_
