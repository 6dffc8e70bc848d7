#ifndef ORDO_SCHEDULER_STORE_STORE_H_
#define ORDO_SCHEDULER_STORE_STORE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"

namespace ordo::scheduler::store {

// What a store holds when it is opened.
struct Contents {
  // Number of this opening; larger than any before.
  int64_t epoch = 0;
  core::Records records;
};

// Where the durable part of the core's state lives. One process at a time. Used
// by one thread at a time. store_conformance.h says what every implementation
// does.
class Store {
 public:
  virtual ~Store() = default;

  // All records but rows of kind kAudit, ordered as core::Records says, and a
  // new epoch, which is durable on return. DATA_LOSS when something that was
  // stored cannot be read any more; nothing is changed then. Call once, first.
  virtual absl::StatusOr<Contents> Load() = 0;

  // Inserts or replaces the records, in order, all or none; a row without bytes
  // is removed. Durable on return. RESOURCE_EXHAUSTED: there is no room; none
  // of it is stored, and it may be tried again. After any other error nothing
  // more may be committed: open the store again.
  virtual absl::Status Commit(const std::vector<core::Record>& records) = 0;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_STORE_H_
