#ifndef ORDO_SCHEDULER_STORE_STORED_SPECS_H_
#define ORDO_SCHEDULER_STORE_STORED_SPECS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/store/reader.h"

namespace ordo::scheduler::store {

// The specs of a store, as those who have handles of them read them, with the
// last ones in memory: many jobs ask for the same, and of a new job somebody
// wants to know soon. Outlives its store where handles do.
class StoredSpecs : public core::SpecSource {
 public:
  // Specs that are kept in memory, and what they may have together, as they are
  // stored.
  static constexpr size_t kMaxKept = 1024;
  static constexpr size_t kMaxBytes = 32 << 20;

  // UNAVAILABLE unless it is open.
  absl::StatusOr<core::SpecPtr> ReadSpec(int64_t id) override;

  // `reader` is not owned, and stays until Close has returned.
  void Open(Reader* reader);
  // Waits for who is reading.
  void Close();

  // That is what is stored as `id`, from now on: numbers are not given again.
  void Remember(int64_t id, core::SpecPtr spec);

  // How many are in memory, for tests.
  size_t num_kept() const;

 private:
  struct Kept {
    int64_t id = 0;
    core::SpecPtr spec;
    size_t bytes = 0;
  };

  void Forget(std::list<Kept>::iterator kept) ORDO_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  base::CondVar changed_;
  Reader* reader_ ORDO_GUARDED_BY(mutex_) = nullptr;
  int num_reading_ ORDO_GUARDED_BY(mutex_) = 0;
  // The last used first.
  std::list<Kept> kept_ ORDO_GUARDED_BY(mutex_);
  std::unordered_map<int64_t, std::list<Kept>::iterator> by_id_
      ORDO_GUARDED_BY(mutex_);
  // Of all that are kept.
  size_t bytes_ ORDO_GUARDED_BY(mutex_) = 0;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_STORED_SPECS_H_
