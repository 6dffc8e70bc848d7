#ifndef ORDO_SCHEDULER_CORE_PRESENT_H_
#define ORDO_SCHEDULER_CORE_PRESENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/jobs.pb.h"
#include "scheduler/core/job.h"
#include "scheduler/core/spec_table.h"

// Between the core's records of jobs and the message that the API shows. The
// core itself never needs the message; its shell and its store do.

namespace ordo::scheduler::core {

// The job as the API shows it, without `progress`. May read its spec, with the
// errors of SpecSource.
absl::StatusOr<jobs::v1::Job> Present(const JobRecord& record);

// Job.message of it.
std::string MessageOf(const JobRecord& record);

// As Present, without the spec.
jobs::v1::Job PresentWithoutSpec(const JobRecord& record);

// A record as a store has it: the job as presented, and what that leaves out.
struct StoredJob {
  jobs::v1::Job job;
  std::string request_id = {};
  std::string fingerprint = {};
  std::string incarnation = {};
  int64_t acknowledged_records = 0;
};

// The inverse.
JobPtr RecordOf(StoredJob stored, SpecTable* specs);
// The same for a job whose spec is kept apart: `of_spec` is what follows from
// it (FactsOf), with its handle, and takes the place of the one in `stored`.
JobPtr RecordOf(StoredJob stored, const JobFacts& of_spec);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_PRESENT_H_
