#ifndef ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
#define ORDO_SCHEDULER_CORE_SPEC_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/spec_handle.h"

namespace ordo::scheduler::core {

// Makes handles of specs; those of jobs that ask alike share what is kept of
// them in memory.
class SpecTable {
 public:
  // `spec` has no name and is not null.
  SpecHandlePtr Keep(SpecPtr spec);
  // Of one that is stored as number `id` of `source`, and leaves memory.
  SpecHandlePtr KeepStored(const jobs::v1::JobSpec& spec, int64_t id,
                           std::shared_ptr<SpecSource> source);

  // How many demands and outlines are remembered, for tests.
  size_t size() const { return demands_.size() + outlines_.size(); }

 private:
  struct ByDemand {
    using is_transparent = void;
    bool operator()(const DemandPtr& a, const DemandPtr& b) const {
      return *a < *b;
    }
    bool operator()(const DemandPtr& a, const Demand& b) const {
      return *a < b;
    }
    bool operator()(const Demand& a, const DemandPtr& b) const {
      return a < *b;
    }
  };
  // Of demands that are shared: equal ones are one.
  struct ByOutline {
    using is_transparent = void;
    bool operator()(const OutlinePtr& a, const OutlinePtr& b) const {
      return (*this)(*a, *b);
    }
    bool operator()(const OutlinePtr& a, const Outline& b) const {
      return (*this)(*a, b);
    }
    bool operator()(const Outline& a, const OutlinePtr& b) const {
      return (*this)(a, *b);
    }
    bool operator()(const Outline& a, const Outline& b) const {
      if (a.demand != b.demand) return a.demand < b.demand;
      return a.labels < b.labels;
    }
  };

  OutlinePtr OutlineOf(const jobs::v1::JobSpec& spec);

  std::set<DemandPtr, ByDemand> demands_;
  std::set<OutlinePtr, ByOutline> outlines_;
  // With so many remembered, those that nobody has any more are forgotten.
  size_t sweep_at_ = 1024;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
