#ifndef ORDO_SERVICES_JOBS_ALIAS_BINDER_H_
#define ORDO_SERVICES_JOBS_ALIAS_BINDER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "proto/ordo/checkpoints/v1/checkpoints.pb.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/scheduler.h"

namespace ordo::services::jobs {

// Puts checkpoints in the place of aliases in specs. An alias names the same in
// all specs that one binder is given, however it moves meanwhile. Not
// thread-safe.
class AliasBinder {
 public:
  // Outlives this.
  explicit AliasBinder(const scheduler::Scheduler& scheduler)
      : scheduler_(scheduler) {}

  // Replaces the aliases in the fields of a spec that name a checkpoint, not in
  // those of what it is a template of, and adds what they named to its `bound`.
  // Violations, relative to the spec: there is no such alias.
  void Bind(ordo::jobs::v1::JobSpec* spec,
            std::vector<base::FieldViolation>* violations);

 private:
  void BindField(const std::string& field, std::string* reference,
                 ordo::jobs::v1::JobSpec* spec,
                 std::vector<base::FieldViolation>* violations);

  const scheduler::Scheduler& scheduler_;
  // By name.
  std::map<std::string, absl::StatusOr<ordo::checkpoints::v1::Alias>> seen_;
};

// Whether the fields of a spec that name a checkpoint name an alias.
bool NamesAnAlias(const ordo::jobs::v1::JobSpec& spec);

// What was bound in earlier jobs is not read: whether a spec, or one that it is
// a template of, says such a thing; and takes that out.
bool HasBound(const ordo::jobs::v1::JobSpec& spec);
void ClearBound(ordo::jobs::v1::JobSpec* spec);

}  // namespace ordo::services::jobs

#endif  // ORDO_SERVICES_JOBS_ALIAS_BINDER_H_
