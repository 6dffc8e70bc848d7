#ifndef ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_
#define ORDO_SCHEDULER_STORE_TESTING_MEMORY_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::store::testing {

// What a MemoryStore holds; lives on when that is closed. Thread-safe.
class Memory {
 public:
  // Every later commit fails with this.
  void Fail(const absl::Status& status);
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

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  int64_t epoch_ ORDO_GUARDED_BY(mutex_) = 0;
  std::map<int64_t, core::JobPtr> jobs_ ORDO_GUARDED_BY(mutex_);
  std::map<std::string, core::CheckpointPtr> checkpoints_
      ORDO_GUARDED_BY(mutex_);
  std::map<std::string, core::ReportPtr> reports_ ORDO_GUARDED_BY(mutex_);
  absl::Status failure_ ORDO_GUARDED_BY(mutex_);
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
