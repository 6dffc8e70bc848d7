#ifndef ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
#define ORDO_SCHEDULER_CORE_SPEC_TABLE_H_

#include <cstddef>
#include <set>

#include "scheduler/core/job.h"
#include "scheduler/core/spec_handle.h"

namespace ordo::scheduler::core {

// Makes handles of specs; those of jobs that ask alike share what decisions
// need.
class SpecTable {
 public:
  // `spec` has no name and is not null.
  SpecHandlePtr Keep(SpecPtr spec);

  // How many demands are remembered, for tests.
  size_t size() const { return demands_.size(); }

 private:
  struct ByValue {
    bool operator()(const DemandPtr& a, const DemandPtr& b) const {
      return *a < *b;
    }
  };

  std::set<DemandPtr, ByValue> demands_;
  // With so many remembered, those that nobody has any more are forgotten.
  size_t sweep_at_ = 1024;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
