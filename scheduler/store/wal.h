#ifndef ORDO_SCHEDULER_STORE_WAL_H_
#define ORDO_SCHEDULER_STORE_WAL_H_

#include <string>

#include "absl/status/status.h"
#include "base/files/files.h"

namespace ordo::scheduler::store {

// What SQLite keeps beside a file in WAL mode: the log, and an index of it.
inline constexpr char kLog[] = "-wal";
inline constexpr char kLogIndex[] = "-shm";

// Whether there is a file at `path`, without a byte.
bool IsEmptyFile(base::Filesystem& files, const std::string& path);

// DATA_LOSS when the store's file is empty or gone beside a log that is not.
// Ask before SQLite opens the file: it would take such a log for one of another
// file, and remove it.
absl::Status CheckNotLost(base::Filesystem& files, const std::string& store);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_WAL_H_
