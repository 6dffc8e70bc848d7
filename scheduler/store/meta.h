#ifndef ORDO_SCHEDULER_STORE_META_H_
#define ORDO_SCHEDULER_STORE_META_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/sqlite.h"

// The numbers of a store that belong to no record: its schema version, its
// epoch, and the largest sequence of a job that has left it.

namespace ordo::scheduler::store {

inline constexpr char kSchemaVersionKey[] = "schema_version";
inline constexpr char kEpochKey[] = "epoch";
inline constexpr char kLastSequenceKey[] = "last_sequence";

// DATA_LOSS, naming the table and the key, when the row is not there or
// damaged.
absl::StatusOr<int64_t> ReadMeta(Database& database, std::string_view key);

// Inserts or replaces, with a checksum.
absl::Status WriteMeta(Database& database, std::string_view key, int64_t value);

// DATA_LOSS, naming each, when one of the three cannot be read.
absl::Status CheckMeta(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_META_H_
