#ifndef ORDO_SCHEDULER_STORE_ENDED_LABELS_H_
#define ORDO_SCHEDULER_STORE_ENDED_LABELS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/sqlite.h"

// The labels by which jobs that have ended are found: a table that repeats what
// the jobs' specs say, and is made from them where it is damaged.

namespace ordo::scheduler::store {

// The rows that are missing, and how many are there that no job has. Errors:
// DATA_LOSS when a job that has ended cannot be read, and the database's.
absl::StatusOr<Damage> FindLabelDamage(Database& database);

// Makes all of them from the jobs, in one transaction. Errors as above.
absl::Status RebuildLabels(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ENDED_LABELS_H_
