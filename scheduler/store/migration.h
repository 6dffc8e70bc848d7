#ifndef ORDO_SCHEDULER_STORE_MIGRATION_H_
#define ORDO_SCHEDULER_STORE_MIGRATION_H_

#include "absl/status/status.h"
#include "scheduler/store/sqlite.h"

// From schema version 1, that of the first release: a job's row held its whole
// message with the spec, and no row had a checksum. Both steps belong to one
// transaction, between which the tables of this version are made.

namespace ordo::scheduler::store {

// Gives the tables of version 1 other names.
absl::Status SetVersion1Aside(Database& database);

// Writes what they hold into the tables of this version, row by row, and drops
// them. DATA_LOSS naming the table and the key of each row that cannot be read.
absl::Status TakeVersion1Over(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_MIGRATION_H_
