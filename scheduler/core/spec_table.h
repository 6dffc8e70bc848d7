#ifndef ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
#define ORDO_SCHEDULER_CORE_SPEC_TABLE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/job.h"

namespace ordo::scheduler::core {

// The same bytes for equal specs, whatever the order of their maps.
std::string SpecBytes(const jobs::v1::JobSpec& spec);

// Specs that are in use, so that jobs which ask for the same share one.
class SpecTable {
 public:
  // `spec` without its name, or one that equals it.
  SpecPtr Share(jobs::v1::JobSpec spec);

 private:
  // By a hash of their bytes; of two with the same hash one is not shared.
  std::map<size_t, std::weak_ptr<const jobs::v1::JobSpec>> specs_;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
