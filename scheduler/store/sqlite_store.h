#ifndef ORDO_SCHEDULER_STORE_SQLITE_STORE_H_
#define ORDO_SCHEDULER_STORE_SQLITE_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::store {

struct SqliteStoreOptions {
  // The file. Made, with its folder, when it is missing.
  std::string path;
  // Name of the SQLite VFS below it; empty: the default one.
  std::string vfs = {};
};

// A store in one SQLite file, in WAL mode and with full sync: a commit is on
// the disk when it returns. Other programs may read the file meanwhile. The
// pages of the file are checked; one of an earlier release is brought to this
// one's tables.
//
// FAILED_PRECONDITION: another scheduler uses the file, or a later release
// wrote it. DATA_LOSS: it is damaged or no SQLite file, or it is empty or gone
// beside a log that is not; it was left as it is. Messages name the file. A
// file that is empty without such a log becomes a store without jobs, with a
// warning in the log.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(
    const SqliteStoreOptions& options);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SQLITE_STORE_H_
