#include "scheduler/server/past_jobs.h"

#include <set>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "scheduler/core/job.h"
#include "scheduler/core/transitions.h"

namespace ordo::scheduler::server {
namespace {

// The job of jobs/{job}/checkpoints/{checkpoint} and the like.
std::string JobOf(const std::string& name) {
  const size_t begin = name.find('/') + 1;
  return name.substr(begin, name.find('/', begin) - begin);
}

// Id of the job that a record belongs to; empty: to none.
std::string OwnerOf(const core::Record& record) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return (*job)->id();
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return JobOf((*checkpoint)->name());
  }
  if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    return JobOf((*report)->name());
  }
  return "";
}

}  // namespace

Mentioned MentionedBy(const std::vector<NewJob>& jobs) {
  Mentioned mentioned;
  mentioned.created = &jobs;
  for (const NewJob& job : jobs) {
    mentioned.jobs.push_back(job.spec.name());
    for (std::string& id : core::JobsNamedBy(job.spec)) {
      mentioned.jobs.push_back(std::move(id));
    }
    if (!job.request_id.empty()) {
      mentioned.request_ids.push_back(job.request_id);
    }
  }
  return mentioned;
}

absl::Status CheckNotRetired(const std::vector<NewJob>& jobs,
                             const std::vector<store::RetiredJob>& retired) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const store::RetiredJob& job : retired) {
      const bool is_repeat =
          !job.request_id.empty() && job.request_id == jobs[i].request_id;
      if (!is_repeat && job.id != jobs[i].spec.name()) continue;
      const absl::Status status = absl::AlreadyExistsError(absl::StrCat(
          is_repeat ? "the request has made job " : "there was a job ", job.id,
          ", which has ended and was archived; names and request ids are "
          "unique for ever: choose another"));
      return jobs.size() == 1
                 ? status
                 : base::AddContext(status, absl::StrCat("requests[", i, "]"));
    }
  }
  return absl::OkStatus();
}

void RecordsInFlight::Add(const core::Effects& effects) {
  for (const core::Effect& effect : effects) {
    const auto* record = std::get_if<core::Record>(&effect);
    if (record == nullptr) continue;
    const std::string owner = OwnerOf(*record);
    if (!owner.empty()) ++records_[owner];
  }
}

std::vector<std::string> RecordsInFlight::Remove(
    const std::vector<core::Effects>& turns) {
  std::set<std::string> jobs;
  for (const core::Effects& effects : turns) {
    for (const core::Effect& effect : effects) {
      const auto* record = std::get_if<core::Record>(&effect);
      if (record == nullptr) continue;
      const std::string owner = OwnerOf(*record);
      const auto count = records_.find(owner);
      if (count == records_.end()) continue;
      if (--count->second == 0) records_.erase(count);
      const auto* job = std::get_if<core::JobPtr>(&record->value);
      if (job == nullptr) {
        jobs.insert(owner);
      } else if (core::IsTerminal((*job)->state)) {
        jobs.insert(owner);
        for (const std::string& id : core::JobsNamedBy(*(*job)->facts->spec)) {
          jobs.insert(id);
        }
      }
    }
  }
  return Without({jobs.begin(), jobs.end()});
}

std::vector<std::string> RecordsInFlight::Without(
    const std::vector<std::string>& jobs) const {
  std::vector<std::string> idle;
  for (const std::string& job : jobs) {
    if (records_.count(job) == 0) idle.push_back(job);
  }
  return idle;
}

}  // namespace ordo::scheduler::server
