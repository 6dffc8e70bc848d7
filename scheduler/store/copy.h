#ifndef ORDO_SCHEDULER_STORE_COPY_H_
#define ORDO_SCHEDULER_STORE_COPY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

// Copies of a store in a file of their own, of the same form. Each is checked,
// all pages and all rows, before it has its name. The labels by which jobs that
// have ended are found are made anew where they are not those of the jobs,
// unless those of jobs that cannot be read would be lost.

namespace ordo::scheduler::store {

// Of a copy that was made.
struct CopyResult {
  // For people to read; empty: nothing.
  std::string warning;
  // Every row that is damaged, such as "table jobs, sequence 7"; the copy has
  // it as it was.
  std::vector<std::string> damaged_rows;
};

struct RestoreOptions {
  // A copy with damaged rows is put in place too.
  bool take_damaged = false;
};

// Copies the store as it is at one moment; a scheduler may use it meanwhile and
// does not wait. NOT_FOUND: there is no store. ALREADY_EXISTS: there is a file
// of that name. FAILED_PRECONDITION: another release wrote the store.
// DATA_LOSS: its pages or its table `meta` are damaged, or its file is empty or
// gone beside a log that is not. RESOURCE_EXHAUSTED: no room.
absl::StatusOr<CopyResult> BackUp(const std::string& store,
                                  const std::string& file);

// Puts a copy in the store's place. What the store held before is left beside
// it, as <store>.before-restore. FAILED_PRECONDITION: a scheduler uses the
// store, or a later release wrote the copy; one of an earlier release is
// brought to this one's tables. NOT_FOUND: there is no such file. DATA_LOSS:
// the copy's pages or its table `meta` are damaged, or other rows are and that
// is not allowed. ALREADY_EXISTS: what an earlier restore left is still there.
// After an error the store is as it was.
absl::StatusOr<CopyResult> Restore(const std::string& file,
                                   const std::string& store,
                                   const RestoreOptions& options = {});

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_COPY_H_
