#ifndef ORDO_SCHEDULER_STORE_SQLITE_READER_H_
#define ORDO_SCHEDULER_STORE_SQLITE_READER_H_

#include <memory>
#include <string>

#include "scheduler/store/reader.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// Reads the file of a store of this schema version through connections of its
// own, of which it opens as many as there are calls at a time.
std::unique_ptr<Reader> MakeSqliteReader(const std::string& path,
                                         const DatabaseOptions& options);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SQLITE_READER_H_
