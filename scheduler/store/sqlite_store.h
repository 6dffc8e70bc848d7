#ifndef ORDO_SCHEDULER_STORE_SQLITE_STORE_H_
#define ORDO_SCHEDULER_STORE_SQLITE_STORE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/store/store.h"

namespace ordo::scheduler::store {

// Form of the file. Grows with each change of the tables; a file of another
// version is refused.
inline constexpr int kSchemaVersion = 1;

// A store in one SQLite file, in WAL mode and with full sync: a commit is on
// the disk when it returns. Other programs may read the file meanwhile. Makes
// the file and its folder when they are missing.
//
// FAILED_PRECONDITION: another scheduler uses the file, or it has another
// schema version. DATA_LOSS: it is damaged or no SQLite file. Messages name the
// file.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(const std::string& path);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SQLITE_STORE_H_
