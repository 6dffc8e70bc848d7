#include "services/jobs/known_jobs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ordo::services::jobs {

using ordo::jobs::v1::Job;
using ordo::jobs::v1::JobSpec;

absl::StatusOr<Job> FindJob(const KnownJobs& known, const std::string& id) {
  const auto made = known.made.find(id);
  if (made == known.made.end()) return known.scheduler.GetJob(id);
  Job job;
  job.set_name(absl::StrCat("jobs/", id));
  job.set_state(Job::QUEUED);
  *job.mutable_spec() = *made->second;
  return job;
}

bool Needs(const JobSpec& spec, const std::string& id) {
  return std::any_of(
      spec.needs().begin(), spec.needs().end(), [&id](const auto& need) {
        return need.job() == id || need.job() == absl::StrCat("jobs/", id);
      });
}

}  // namespace ordo::services::jobs
