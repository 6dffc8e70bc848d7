#ifndef ORDO_SCHEDULER_STORE_ROW_READER_H_
#define ORDO_SCHEDULER_STORE_ROW_READER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/core/load.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// All records of a file, as RowWriter wrote them, but rows of kind kAudit.
// DATA_LOSS when any row's
// checksum is wrong or its message cannot be read: the error names the table
// and the key of each such row, up to twenty.
absl::StatusOr<core::Records> ReadRecords(Database& database);

// The same of every row, rows of kind kAudit too, keeping none of them.
absl::Status CheckRows(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ROW_READER_H_
