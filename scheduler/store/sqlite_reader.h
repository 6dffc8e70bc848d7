#ifndef ORDO_SCHEDULER_STORE_SQLITE_READER_H_
#define ORDO_SCHEDULER_STORE_SQLITE_READER_H_

#include <memory>
#include <string>

#include "scheduler/core/spec_handle.h"
#include "scheduler/store/reader.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// Reads the file of a store of this schema version through connections of its
// own, of which it opens as many as there are calls at a time.
// `specs`: from where the specs of jobs are read when they have left memory;
// null: they stay there.
std::unique_ptr<Reader> MakeSqliteReader(
    const std::string& path, const DatabaseOptions& options,
    std::shared_ptr<core::SpecSource> specs = nullptr);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_SQLITE_READER_H_
