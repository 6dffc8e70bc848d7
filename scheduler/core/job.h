#ifndef ORDO_SCHEDULER_CORE_JOB_H_
#define ORDO_SCHEDULER_CORE_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "proto/ordo/usage/v1/usage.pb.h"
#include "scheduler/core/job_reason.h"
#include "scheduler/core/request_mark.h"
#include "scheduler/core/sparse_string.h"
#include "scheduler/core/sparse_vector.h"
#include "scheduler/core/spec_handle.h"
#include "scheduler/core/transitions.h"
#include "scheduler/policy/shape.h"

// A job as the core keeps it: plain fields. present.h makes the message of it
// that the API shows and the store holds.

namespace ordo::scheduler::core {

using AttemptPtr = std::shared_ptr<const jobs::v1::Attempt>;

// A job that must have ended before another starts.
struct NeededJob {
  std::string id;
  // Only when it SUCCEEDED; otherwise however it ended.
  bool must_succeed = true;
};

// What never changes of a job; shared by all its records. Times are
// nanoseconds since 1970 here and below; 0: none.
struct JobFacts {
  std::string id;
  // Grows with each creation.
  int64_t sequence = 0;
  // Resolved. What decisions need of it is at hand; the rest is read for those
  // to whom it is handed on: whoever runs the job, or looks at it.
  SpecHandlePtr spec;
  jobs::v1::JobSpec::Kind kind = jobs::v1::JobSpec::KIND_UNSPECIFIED;
  // Its processes, and the devices of each.
  int32_t num_ranks = 1;
  int32_t num_devices = 1;
  int32_t max_attempts = 0;
  int32_t max_interruptions = 0;
  bool user_verified = false;
  // Each job once; of a job with parts these too, however they end.
  SparseVector<NeededJob> needs;
  // Checkpoints and reports of other jobs (resource names) that the spec names.
  SparseVector<std::string> references;

  std::string user;
  SparseVector<std::string> notices;
  RequestMark request;
  int64_t create_ns = 0;

  // Id of the sweep, comparison or pipeline that it is part of, and Job.part;
  // empty: it stands alone.
  SparseString parent;
  SparseString part;
  // Ids of its parts, in the order of their creation.
  SparseVector<std::string> parts;

  const Demand& demand() const { return spec->demand(); }
};
using FactsPtr = std::shared_ptr<const JobFacts>;

// Everything durable about a job but its checkpoints and reports.
struct JobRecord {
  FactsPtr facts;
  // Grows with each change.
  int64_t version = 0;
  JobState state = jobs::v1::Job::STATE_UNSPECIFIED;
  int32_t priority = 0;
  JobReason reason;
  // For people. Empty: what the other fields say, such as that it waits.
  SparseString message;
  // Oldest first; all but the newest never change.
  std::vector<AttemptPtr> attempts;
  // Of attempts before those; null: there are none.
  std::shared_ptr<const usage::v1::PastUsage> earlier_usage;
  int32_t failed_attempts = 0;
  // In a row, by no fault of the job, without a new checkpoint.
  int32_t interruptions = 0;
  // Empty: it has that of its spec.
  SparseString priority_set_by;
  // Empty: it is not on hold.
  SparseString held_by;
  SparseString cancelled_by;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t not_before_ns = 0;
  // Since when it waits, and how long it did in all before that.
  int64_t queue_ns = 0;
  int64_t waited_ns = 0;
  // Of its live attempt, if it has one, and that has one rank: the incarnation
  // of the worker that was given it, and the last durable record taken from it.
  // Of several ranks: Attempt.ranks.
  SparseString incarnation;
  int64_t acknowledged_records = 0;

  const std::string& id() const { return facts->id; }
  // There is one.
  const jobs::v1::Attempt& newest_attempt() const { return *attempts.back(); }
  // Of the newest attempt; 0 before the first.
  int32_t attempt_number() const {
    return attempts.empty() ? 0 : attempts.back()->number();
  }
};
// Records are shared, never changed.
using JobPtr = std::shared_ptr<const JobRecord>;

// Of one rank of the live attempt: as JobRecord.incarnation and
// JobRecord.acknowledged_records.
const std::string& IncarnationOf(const JobRecord& job, int32_t rank);
int64_t AcknowledgedOf(const JobRecord& job, int32_t rank);

// Of either sign.
inline constexpr int kMaxPriority = 1000;

// What follows from a spec, whose name is the id and whose handle is given.
JobFacts FactsOf(const jobs::v1::JobSpec& spec, SpecHandlePtr handle);

// SWEEP, COMPARE and PIPELINE: what such a job does is sum up its parts.
bool SumsUp(jobs::v1::JobSpec::Kind kind);

// What devices must have for it, and for a GATE, as a kernel in Shape.kernels:
// workers of earlier releases lack it.
inline constexpr char kSummarizeTask[] = "task/summarize";
inline constexpr char kGateTask[] = "task/gate";

// Gives a job its parts, which it needs from then on.
void SetParts(std::vector<std::string> parts, JobFacts* facts);

// How many parts of a job may hold devices at a time; 0: as many as there is
// room for.
int32_t MaxParallelOf(const jobs::v1::JobSpec& spec);
inline int32_t MaxParallelOf(const SpecHandle& spec) {
  return spec.demand().max_parallel;
}

// What a job asks of machines: its devices are of the kind `cpu` unless the
// spec names one, and have the kernels that the spec names. One that sums up
// its parts: one device, on workers that know how.
policy::Shape ShapeOf(const jobs::v1::JobSpec& spec);
inline const policy::Shape& ShapeOf(const SpecHandle& spec) {
  return spec.demand().shape;
}
// The key of no label, by which a store finds parts by the id of their parent.
inline constexpr char kParentLabel[] = "";

// The queue of a job.
const std::string& QueueOf(const jobs::v1::JobSpec& spec);
const std::string& QueueOf(const SpecHandle& spec);
// The checkpoints of other jobs that a job's spec names, and of a gate its
// reports (resource names).
std::vector<std::string> References(const jobs::v1::JobSpec& spec);
// Ids of the jobs that a spec names in any way.
std::vector<std::string> JobsNamedBy(const jobs::v1::JobSpec& spec);
// The same of a job: with its parts.
std::vector<std::string> JobsNamedBy(const JobFacts& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_JOB_H_
