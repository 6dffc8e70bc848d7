#ifndef ORDO_SCHEDULER_STORE_STORE_H_
#define ORDO_SCHEDULER_STORE_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/load.h"
#include "scheduler/store/reader.h"

namespace ordo::scheduler::store {

// What a store holds when it is opened.
struct Contents {
  // Number of this opening; larger than any before.
  int64_t epoch = 0;
  core::Records records;
  // DATA_LOSS for each row of what a queue used that cannot be read and is left
  // out, at most twenty; each names the table and the key. The next end of an
  // attempt there writes that row anew.
  std::vector<absl::Status> damage = {};
};

// What a store takes of its disk, and what is left there, in bytes; 0: not
// known.
struct StoreSize {
  int64_t database_bytes = 0;
  // Changes that are not in the database yet.
  int64_t wal_bytes = 0;
  int64_t free_bytes = 0;
};

// Where the durable part of the core's state lives. One process at a time. Used
// by one thread at a time, but for what says otherwise. store_conformance.h
// says what every implementation does.
class Store {
 public:
  virtual ~Store() = default;

  // What a scheduler starts with (core::Records), and a new epoch, which is
  // durable on return. DATA_LOSS when something that was stored cannot be read
  // any more, but for Contents.damage; nothing is changed then. Call once,
  // first. The specs of the jobs may be read as long as the store is open.
  virtual absl::StatusOr<Contents> Load() = 0;

  // Inserts or replaces the records, in order, all or none; a row without bytes
  // is removed. Durable on return. RESOURCE_EXHAUSTED: there is no room; none
  // of it is stored, and it may be tried again. After any other error nothing
  // more may be committed: open the store again. The jobs' handles are told
  // where their specs are from then on (core::SpecHandle).
  virtual absl::Status Commit(const std::vector<core::Record>& records) = 0;

  // Removes jobs that have ended, with all that belongs to them, and inserts or
  // replaces rows, in one transaction. Names and request ids of the jobs stay
  // taken: FindPast tells them, and how they ended. Errors are those of Commit.
  virtual absl::Status Retire(const std::vector<std::string>& jobs,
                              const std::vector<core::RowPtr>& rows) = 0;

  // May be used from any thread, at any time until the store is closed.
  virtual Reader& reader() = 0;

  // Whether FindPast may have something to tell of this job, or of this
  // request, as far as is known in memory; false: it has nothing. Right as of
  // the last commit that returned before the call. From any thread.
  virtual bool MayBePast(const std::string& /*job*/) const { return true; }
  virtual bool MayHaveMadePast(const std::string& /*request_id*/) const {
    return true;
  }

  // As it is now. From any thread.
  virtual StoreSize Size() const { return {}; }
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_STORE_H_
