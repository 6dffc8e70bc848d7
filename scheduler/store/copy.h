#ifndef ORDO_SCHEDULER_STORE_COPY_H_
#define ORDO_SCHEDULER_STORE_COPY_H_

#include <string>

#include "absl/status/statusor.h"

// Copies of a store in a file of their own, of the same form. Each is checked,
// all pages and all rows, before it has its name. The labels by which jobs that
// have ended are found are made anew where they are not those of the jobs. A
// copy that was made holds a warning, for people to read, or nothing.

namespace ordo::scheduler::store {

// Copies the store as it is at one moment; a scheduler may use it meanwhile and
// does not wait. NOT_FOUND: there is no store. ALREADY_EXISTS: there is a file
// of that name. FAILED_PRECONDITION: another release wrote the store.
// DATA_LOSS: the store is damaged. RESOURCE_EXHAUSTED: no room.
absl::StatusOr<std::string> BackUp(const std::string& store,
                                   const std::string& file);

// Puts a copy in the store's place. What the store held before is left beside
// it, as <store>.before-restore. FAILED_PRECONDITION: a scheduler uses the
// store, or a later release wrote the copy; one of an earlier release is
// brought to this one's tables. NOT_FOUND: there is no such file. DATA_LOSS:
// the copy is damaged. ALREADY_EXISTS: what an earlier restore left is still
// there. After an error the store is as it was.
absl::StatusOr<std::string> Restore(const std::string& file,
                                    const std::string& store);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_COPY_H_
