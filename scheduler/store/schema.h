#ifndef ORDO_SCHEDULER_STORE_SCHEMA_H_
#define ORDO_SCHEDULER_STORE_SCHEMA_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/sqlite.h"

// The tables of a store's file.

namespace ordo::scheduler::store {

// Form of the file. Grows with each change of the tables that an older release
// could not read.
inline constexpr int kSchemaVersion = 2;

// The number of that name in the table `meta`; 0 when it is not there.
absl::StatusOr<int64_t> Meta(Database& database, const std::string& key);

// Makes the tables of a new file, or brings those of an earlier version to this
// one, in one transaction. FAILED_PRECONDITION: a later release wrote the file.
// DATA_LOSS: a row of an earlier version cannot be read; nothing is changed.
absl::Status PrepareSchema(Database& database);

// FAILED_PRECONDITION unless the file has this version.
absl::Status CheckSchema(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SCHEMA_H_
