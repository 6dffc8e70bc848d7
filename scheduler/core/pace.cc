#include "scheduler/core/pace.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ordo::scheduler::core {
namespace {

// As training.steps may be.
constexpr double kMaxSteps = 1e9;

double PaceOf(const State& state, const std::string& id) {
  const auto job = state.jobs.find(id);
  return job == state.jobs.end() ? 0 : StepDeviceSeconds(*job->second.job);
}

}  // namespace

double StepDeviceSeconds(const JobRecord& job) {
  double seconds = 0;
  for (const AttemptPtr& attempt : job.attempts) {
    if (attempt->step_seconds() > 0) seconds = attempt->step_seconds();
  }
  return seconds * job.facts->num_ranks * job.facts->num_devices;
}

std::optional<int64_t> PacedSteps(const State& state, const Demand& job) {
  const double own = PaceOf(state, job.paces[0]);
  const double baseline = PaceOf(state, job.paces[1]);
  if (!(own > 0 && baseline > 0)) return std::nullopt;
  const double steps =
      std::round(static_cast<double>(job.num_steps) * baseline / own);
  return static_cast<int64_t>(std::clamp(steps, 1.0, kMaxSteps));
}

absl::Status CheckPaces(const State& state, const NamedJobs& named,
                        const jobs::v1::JobSpec& spec) {
  const Demand job = DemandOf(spec);
  bool all_ended = true;
  for (const std::string& id : job.paces) {
    const auto pace = state.jobs.find(id);
    const bool is_there = pace != state.jobs.end();
    if (!is_there && named.created.count(id) == 0) {
      return absl::NotFoundError(
          absl::StrCat("paced_by: there is no job ", id,
                       "; leave paced_by out, and give training.steps"));
    }
    all_ended = all_ended && is_there && IsTerminal(pace->second.job->state);
  }
  if (!all_ended || PacedSteps(state, job).has_value()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("paced_by: ", NothingMeasuredBy(job)));
}

std::string NothingMeasuredBy(const Demand& job) {
  return absl::StrCat("the jobs that were to measure how long a step takes, ",
                      absl::StrJoin(job.paces, ", "), ", did not say so");
}

}  // namespace ordo::scheduler::core
