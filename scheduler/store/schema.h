#ifndef ORDO_SCHEDULER_STORE_SCHEMA_H_
#define ORDO_SCHEDULER_STORE_SCHEMA_H_

#include "absl/status/status.h"
#include "scheduler/store/sqlite.h"

// The tables of a store's file.

namespace ordo::scheduler::store {

// Form of the file. Grows with each change of the tables that an older release
// could not read.
inline constexpr int kSchemaVersion = 3;
// The oldest that PrepareSchema takes over.
inline constexpr int kOldestSchemaVersion = 1;

// Makes the tables of a new file, or brings those of an earlier version to this
// one, in one transaction. FAILED_PRECONDITION: a later release wrote the file.
// DATA_LOSS: a row of an earlier version, or one of the table `meta`, cannot be
// read; nothing is changed.
absl::Status PrepareSchema(Database& database);

// FAILED_PRECONDITION unless the file has this version, or one from `oldest`
// on. DATA_LOSS as above.
absl::Status CheckSchema(Database& database, int oldest = kSchemaVersion);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SCHEMA_H_
