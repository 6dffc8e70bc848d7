#ifndef ORDO_SCHEDULER_CORE_REFERENCES_H_
#define ORDO_SCHEDULER_CORE_REFERENCES_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "scheduler/core/state.h"

// Checkpoints that a job's spec names: `checkpoints`, `start_from`,
// `model.from` and those of `gate`; each by its resource name or, late, as the
// newest or the best of a job which has yet to write it. A gate may name
// reports as well.

namespace ordo::scheduler::core {

// By resource name, jobs/{job}/checkpoints/{checkpoint}; null when there is
// none (in any state).
CheckpointPtr FindCheckpoint(const State& state, const std::string& name);

// By resource name, jobs/{job}/reports/{report}; null when there is none.
ReportPtr FindReport(const State& state, const std::string& name);

// What a reference names, by its form alone.
enum class ReferenceForm { kNone, kJob, kCheckpoint, kReport };
ReferenceForm FormOf(const std::string& reference);
// The place of the same in the state, where another may be put; null when there
// is none.
CheckpointPtr* SlotOf(State& state, const std::string& name);

// The change of a checkpoint that a person has deleted.
inline constexpr char kDeleteAction[] = "delete";
// How a checkpoint that is DELETED went: "deleted by ada".
std::string WhyGone(const checkpoints::v1::Checkpoint& checkpoint);

// The full resource name of what a user names: jobs/{job}/checkpoints/{id},
// the same with `latest`, jobs/{job} for its newest, or jobs/{job}/checkpoints/
// best (BestCheckpoint); jobs/{job}/checkpoints/every stays, of a job that has
// or may get one. NOT_FOUND when there is no such job or checkpoint, or it was
// removed; INVALID_ARGUMENT for another form.
absl::StatusOr<std::string> ResolveReference(const State& state,
                                             const std::string& reference);

// The same of a report, jobs/{job}/reports/{report}.
absl::StatusOr<std::string> ResolveReport(const State& state,
                                          const std::string& reference);

// Whether it is jobs/{job}, which stands for the newest checkpoint of that.
bool NamesJob(const std::string& reference);
// Whether it is jobs/{job}/checkpoints/best, which stands for what
// BestCheckpoint says of that; and that of a job.
bool NamesBest(const std::string& reference);
std::string BestOf(const std::string& job);
// Whether it is one of these two, which a job that has yet to end decides.
bool IsDecidedLater(const std::string& reference);
// Whether it is jobs/{job}/checkpoints/every, which stands for all that the job
// has and will have; and that of a job.
bool NamesEvery(const std::string& reference);
std::string EveryOf(const std::string& job);

// NOT_FOUND with how a job ended that has left the store, and with the reason
// JOB_ARCHIVED whose metadata holds its `state`.
absl::Status Archived(const std::string& job, JobState state);

// Of the jobs that a call names.
struct NamedJobs {
  // Ids of those that it creates.
  const std::set<std::string>& created;
  // How those have ended that left the store, by id.
  const std::map<std::string, JobState>& retired;
};

// The spec with every reference by its full name, the same one if it has them
// so already; errors name the field, and are as Archived says of those that
// left the store. FAILED_PRECONDITION: start_from names one that was thinned.
// jobs/{job} and jobs/{job}/checkpoints/best stay as they are where the job has
// not ended and the spec needs it: such a reference is late.
absl::StatusOr<SpecPtr> ResolveReferences(const State& state,
                                          const NamedJobs& named,
                                          const SpecPtr& spec);

// What a reference of a resolved spec names, of a late one the newest or the
// best that is AVAILABLE; null when there is none. Once the job has ended it is
// the same each time: that gets no further checkpoint or report, and keeps
// both.
CheckpointPtr FindReferenced(const State& state, const std::string& reference);

// Whether a job that has not ended names the best of the job of this entry, and
// it is this checkpoint now.
bool IsNeededAsBest(const State& state, const JobEntry& entry,
                    const checkpoints::v1::Checkpoint& checkpoint);

// What a job holds on to as long as it has not ended, each thing by its
// resource name: checkpoints and reports that its spec names are not removed,
// and its parts, trials and paces do not leave the state.
std::vector<std::string> PinnedBy(const JobFacts& job);
void AddPins(State& state, const JobFacts& job);
void RemovePins(State& state, const JobFacts& job);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_REFERENCES_H_
