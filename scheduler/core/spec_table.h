#ifndef ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
#define ORDO_SCHEDULER_CORE_SPEC_TABLE_H_

#include <cstddef>
#include <map>
#include <memory>

#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/job.h"

namespace ordo::scheduler::core {

// Specs that are in use, so that jobs which ask for the same share one.
class SpecTable {
 public:
  // `spec`, which has no name, or one that equals it.
  SpecPtr Share(const SpecPtr& spec);

  // How many are remembered, for tests.
  size_t size() const { return specs_.size() + answers_.size(); }

 private:
  using WeakSpecPtr = std::weak_ptr<const jobs::v1::JobSpec>;
  // A spec that was asked for, and the one that it was answered with.
  struct Answered {
    WeakSpecPtr asked;
    WeakSpecPtr shared;
  };

  SpecPtr ShareEqual(const SpecPtr& spec);
  void Sweep();

  // By a hash of their bytes; of two with the same hash one is not shared.
  std::map<size_t, WeakSpecPtr> specs_;
  // Whoever asks for many jobs asks with the same object again and again. By
  // its address, of those that were not the caller's alone.
  std::map<const jobs::v1::JobSpec*, Answered> answers_;
  // With so many remembered, those that nobody has any more are forgotten.
  size_t sweep_at_ = 1024;
};

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPEC_TABLE_H_
