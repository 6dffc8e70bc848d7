#ifndef ORDO_SCHEDULER_STORE_PAST_NAMES_H_
#define ORDO_SCHEDULER_STORE_PAST_NAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// Which names and request ids those of jobs that have ended may be, so that
// most that are new need not be looked for in the file. It holds a number of 32
// bits for each, 6 to 12 bytes: of those that never were one in 4000 is taken
// for one that was, with a million in it. Thread-safe.
class PastNames {
 public:
  enum class Kind { kJob, kRequest };
  // With more in it, which would take over 84 MB, it says maybe to all from
  // then on.
  static constexpr size_t kMaxNames = 14'000'000;

  // Nothing happens for an empty one.
  void Add(Kind kind, std::string_view name);
  // All that ended before it was made have been added, and it may say no.
  void SetComplete();
  // It will never be: it says maybe to all.
  void GiveUp();

  // False: it is no job's that has ended.
  bool MayHave(Kind kind, std::string_view name) const;

 private:
  void ForgetAll() ORDO_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  absl::flat_hash_set<uint32_t> hashes_ ORDO_GUARDED_BY(mutex_);
  bool complete_ ORDO_GUARDED_BY(mutex_) = false;
  bool given_up_ ORDO_GUARDED_BY(mutex_) = false;
};

// Adds those of a store's file, some at a time. Whoever ends later is to be
// added by others. Not thread-safe.
class PastNamesScan {
 public:
  // Read by one Step, at most.
  static constexpr int kStepNames = 4096;

  // Both outlive this. The database's errors.
  static absl::StatusOr<std::unique_ptr<PastNamesScan>> Make(Database& database,
                                                             PastNames& names);

  // Outside of a transaction. Jobs may leave for the archive between two of
  // them. Nothing once all are added; what cannot be read is given up.
  void Step();

 private:
  // The tables, in an order in which no name escapes that moves on.
  static constexpr size_t kNumParts = 4;

  PastNamesScan(Database& database, PastNames& names)
      : database_(database), names_(names) {}
  absl::Status Prepare();
  // Reads on in one part; how many there were.
  absl::StatusOr<int> Read(size_t part, int limit);

  Database& database_;
  PastNames& names_;
  std::array<std::unique_ptr<Statement>, kNumParts> queries_;
  size_t part_ = 0;
  // The last that was read of it.
  std::string last_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_PAST_NAMES_H_
