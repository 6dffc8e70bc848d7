#ifndef ORDO_SCHEDULER_STORE_ENDED_LABELS_H_
#define ORDO_SCHEDULER_STORE_ENDED_LABELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/damage.h"
#include "scheduler/store/sqlite.h"

// The labels by which jobs that have ended are found: a table that repeats what
// the jobs' specs say, and is made from them where it is damaged.

namespace ordo::scheduler::store {

struct LabelCheck {
  // The labels that are missing, and how many are there that no job has.
  Damage damage;
  // The jobs that cannot be read, as RowName gives them, and how many labels
  // there are of those, of which nobody knows whether they are right.
  std::vector<std::string> unread_jobs;
  int64_t num_unknown = 0;
};

// Compares all labels with the jobs. Errors, here and below, are the
// database's.
absl::StatusOr<LabelCheck> CheckLabels(Database& database);

// Makes all of them from the jobs, in one transaction; those of jobs that
// cannot be read are gone then.
absl::Status RebuildLabels(Database& database);

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_ENDED_LABELS_H_
