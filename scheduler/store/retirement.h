#ifndef ORDO_SCHEDULER_STORE_RETIREMENT_H_
#define ORDO_SCHEDULER_STORE_RETIREMENT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/store/sqlite.h"

namespace ordo::scheduler::store {

// Removes ended jobs from the tables, within a transaction of the caller. Not
// thread-safe.
class Retirement {
 public:
  // `database` has the tables, and outlives this.
  static absl::StatusOr<std::unique_ptr<Retirement>> Make(Database& database);

  // Removes those of these jobs that have ended, with their checkpoints,
  // reports and labels, and specs that no job has any more; notes their names,
  // request ids and states. The database's errors.
  absl::Status Remove(const std::vector<std::string>& jobs);

 private:
  explicit Retirement(Database& database) : database_(database) {}
  absl::Status Prepare();
  // Adds the job's spec, and its sequence where it is the largest.
  absl::Status RemoveOne(const std::string& job, std::set<int64_t>* specs,
                         int64_t* last_sequence);

  Database& database_;
  std::unique_ptr<Statement> find_, note_, remove_labels_;
  std::unique_ptr<Statement> remove_checkpoints_, remove_reports_;
  std::unique_ptr<Statement> remove_job_, remove_spec_;
};

}  // namespace ordo::scheduler::store

#endif  // ORDO_SCHEDULER_STORE_RETIREMENT_H_
