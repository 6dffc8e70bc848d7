#include "scheduler/server/past_jobs.h"

#include <algorithm>
#include <variant>

#include "scheduler/core/job.h"
#include "scheduler/core/names.h"
#include "scheduler/core/transitions.h"
#include "scheduler/server/backlog.h"

namespace ordo::scheduler::server {
namespace {

// Id of the job that a record belongs to; empty: to none.
std::string OwnerOf(const core::Record& record) {
  if (const auto* job = std::get_if<core::JobPtr>(&record.value)) {
    return (*job)->id();
  }
  if (const auto* checkpoint =
          std::get_if<core::CheckpointPtr>(&record.value)) {
    return core::JobIdOf((*checkpoint)->name());
  }
  if (const auto* report = std::get_if<core::ReportPtr>(&record.value)) {
    return core::JobIdOf((*report)->name());
  }
  return "";
}

const void* ObjectOf(const core::Record& record) {
  return std::visit(
      [](const auto& object) -> const void* { return object.get(); },
      record.value);
}

}  // namespace

Mentioned MentionedBy(const std::vector<NewJob>& jobs) {
  Mentioned mentioned;
  for (const NewJob& job : jobs) {
    mentioned.jobs.push_back(job.name);
    for (std::string& id : core::JobsNamedBy(*job.spec)) {
      mentioned.jobs.push_back(std::move(id));
    }
    if (!job.request_id.empty()) {
      mentioned.request_ids.push_back(job.request_id);
    }
  }
  return mentioned;
}

void Departures::Add(const core::JobRecord& job) {
  jobs_.insert(job.id());
  request_ids_.emplace(job.facts->request.id());
}

Mentioned Departures::Take(const Mentioned& mentioned, store::PastJobs* found) {
  Mentioned again;
  if (jobs_.empty()) return again;
  std::set<std::string> lost;
  const auto lose = [&](const std::string& job) {
    const bool has_left = jobs_.count(job) > 0;
    if (has_left) lost.insert(job);
    return has_left;
  };
  for (const std::string& job : mentioned.jobs) lose(job);
  auto& jobs = found->jobs;
  jobs.erase(std::remove_if(
                 jobs.begin(), jobs.end(),
                 [&lose](const auto& past) { return lose(past.job->id()); }),
             jobs.end());
  auto& retired = found->retired;
  retired.erase(
      std::remove_if(retired.begin(), retired.end(),
                     [&lose](const auto& past) { return lose(past.id); }),
      retired.end());
  again.jobs.assign(lost.begin(), lost.end());
  for (const std::string& request_id : mentioned.request_ids) {
    if (request_ids_.count(request_id) == 0) continue;
    again.request_ids.push_back(request_id);
  }
  jobs_.clear();
  request_ids_.clear();
  return again;
}

void RecordsInFlight::Add(const core::Effects& effects) {
  for (const core::Effect& effect : effects) {
    const auto* record = std::get_if<core::Record>(&effect);
    if (record == nullptr) continue;
    const std::string owner = OwnerOf(*record);
    if (!owner.empty()) newest_[owner][KeyOf(*record)] = ObjectOf(*record);
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
      const auto records = newest_.find(owner);
      if (records == newest_.end()) continue;
      const auto newest = records->second.find(KeyOf(*record));
      // Otherwise a newer one is still under way.
      if (newest != records->second.end() &&
          newest->second == ObjectOf(*record)) {
        records->second.erase(newest);
      }
      if (records->second.empty()) newest_.erase(records);
      const auto* job = std::get_if<core::JobPtr>(&record->value);
      if (job == nullptr) {
        jobs.insert(owner);
      } else if (core::IsTerminal((*job)->state)) {
        jobs.insert(owner);
        for (const std::string& id : core::JobsNamedBy(*(*job)->facts)) {
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
    if (newest_.count(job) == 0) idle.push_back(job);
  }
  return idle;
}

}  // namespace ordo::scheduler::server
