#ifndef ORDO_SCHEDULER_CORE_SPEC_HANDLE_H_
#define ORDO_SCHEDULER_CORE_SPEC_HANDLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/policy/shape.h"
#include "scheduler/scheduler.h"

// What the core keeps of a job's spec: the fields that decisions need, and a
// way to the rest, which lies in the store as soon as the job does.

namespace ordo::scheduler::core {

using scheduler::SpecPtr;

// A score of an evaluation, and which of two is better.
struct Criterion {
  std::string evaluation;
  std::string metric;
  // Otherwise the smaller one is.
  bool maximize = true;
};

// EarlyStopping of a sweep.
struct EarlyStop {
  enum class Rule { kNone, kMedian, kHalving };

  Rule rule = Rule::kNone;
  Criterion by;
  int64_t from_step = 0;
  int32_t factor = 0;
  int32_t min_reports = 0;
};

// Jobs whose results decide what another takes: JobSpec.tuned_by.
struct Trials {
  // Ids; none: nothing is decided so.
  std::vector<std::string> jobs;
  // By what they are told apart.
  Criterion by;
};

// What decisions need of a spec, beside what JobFacts has.
struct Demand {
  // As the spec has it; empty: the default one.
  std::string queue;
  policy::Shape shape;
  // Of its parts, as MaxParallelOf.
  int32_t max_parallel = 0;
  // Of its parts.
  EarlyStop early_stop;
  Trials tuned_by;
  // Ids of paced_by: own, baseline. Without it none.
  std::vector<std::string> paces;
  // TRAIN: training.steps.
  int64_t num_steps = 0;
  // Checkpoints kept, and those of them that keep the optimizer's state too.
  int32_t keep = 0;
  int32_t keep_optimizer = 0;
  // Names of its evaluations, as reports have them.
  std::vector<std::string> evaluations;
  // Zero: none is set.
  absl::Duration queue_time_limit;
  absl::Duration step_timeout;
};
bool operator<(const Demand& a, const Demand& b);
// Jobs that ask for the same share one.
using DemandPtr = std::shared_ptr<const Demand>;

// What follows from a spec.
Demand DemandOf(const jobs::v1::JobSpec& spec);

// What specs have in memory as long as their jobs are there. Jobs that ask for
// the same under the same labels share one.
struct Outline {
  DemandPtr demand;
  std::map<std::string, std::string> labels = {};
};
using OutlinePtr = std::shared_ptr<const Outline>;

// Where specs are stored. Thread-safe.
class SpecSource {
 public:
  virtual ~SpecSource() = default;

  // The spec of that number, never null. DATA_LOSS, naming it, when it is not
  // there or damaged; UNAVAILABLE when the store is closed; else the store's
  // errors.
  virtual absl::StatusOr<SpecPtr> ReadSpec(int64_t id) = 0;
};

// A spec without its name: of one job, or of several that one call created. It
// is in memory until it is stored and LetGo says that it may leave; from then
// on it is read when it is asked for. Get is thread-safe; whoever commits
// records calls the others, or who has it alone.
class SpecHandle {
 public:
  // In memory; nothing is null.
  SpecHandle(SpecPtr spec, OutlinePtr outline);
  // It is stored as number `id` of `source`, and not in memory; nothing is
  // null.
  SpecHandle(int64_t id, std::shared_ptr<SpecSource> source,
             OutlinePtr outline);
  SpecHandle(const SpecHandle&) = delete;
  SpecHandle& operator=(const SpecHandle&) = delete;

  const Demand& demand() const { return *outline_->demand; }
  // As the spec has it.
  const std::string& queue() const { return demand().queue; }
  const std::map<std::string, std::string>& labels() const {
    return outline_->labels;
  }

  // All of it. Errors are those of SpecSource.
  absl::StatusOr<SpecPtr> Get() const;

  // It is stored, durably, as number `id` of `source`. Once it has left, it
  // stays where it is.
  void NoteStored(int64_t id, std::shared_ptr<SpecSource> source) const;
  // Its number there; nothing: it is not stored there.
  std::optional<int64_t> IdIn(const SpecSource* source) const;
  // It leaves memory, if it is stored.
  void LetGo() const;

 private:
  const OutlinePtr outline_;
  // Loaded and stored atomically. Once it is null, the others do not change.
  mutable SpecPtr held_;
  mutable int64_t id_ = 0;
  mutable std::shared_ptr<SpecSource> source_;
};
using SpecHandlePtr = std::shared_ptr<const SpecHandle>;

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_SPEC_HANDLE_H_
