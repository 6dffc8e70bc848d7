#include "scheduler/core/references.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::scheduler::core {
namespace {

// The key in "200-1".
std::optional<CheckpointKey> ParseId(const std::string& id) {
  const std::vector<std::string> parts = absl::StrSplit(id, '-');
  CheckpointKey key;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &key.second) ||
      !absl::SimpleAtoi(parts[1], &key.first) || CheckpointId(key) != id) {
    return std::nullopt;
  }
  return key;
}

const JobEntry* FindJob(const State& state, const std::string& job) {
  const auto it = state.jobs.find(job);
  return it == state.jobs.end() ? nullptr : &it->second;
}

absl::StatusOr<std::string> Newest(const JobEntry& entry) {
  const std::string& job = entry.job->id();
  if (const CheckpointPtr newest = NewestCheckpoint(entry)) {
    return newest->name();
  }
  if (IsTerminal(entry.job->state)) {
    return absl::NotFoundError(
        absl::StrCat("job ", job,
                     " has no checkpoint; name one of another: "
                     "ordo list checkpoints"));
  }
  return absl::NotFoundError(absl::StrCat(
      "job ", job, " has no checkpoint yet; wait for it: ordo wait ", job));
}

// Whether a reference of the spec is to be looked up when its job starts.
bool IsLate(const State& state, const std::set<std::string>& created,
            const jobs::v1::JobSpec& spec, const std::string& reference) {
  if (!NamesJob(reference)) return false;
  const JobEntry* entry = FindJob(state, JobIdOf(reference));
  const bool is_to_end = entry == nullptr
                             ? created.count(JobIdOf(reference)) > 0
                             : !IsTerminal(entry->job->state);
  return is_to_end && std::any_of(spec.needs().begin(), spec.needs().end(),
                                  [&reference](const jobs::v1::Need& need) {
                                    return need.job() == reference;
                                  });
}

}  // namespace

CheckpointPtr FindCheckpoint(const State& state, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4 || parts[0] != "jobs" || parts[2] != "checkpoints") {
    return nullptr;
  }
  const JobEntry* entry = FindJob(state, parts[1]);
  const std::optional<CheckpointKey> key = ParseId(parts[3]);
  if (entry == nullptr || !key.has_value()) return nullptr;
  const auto it = entry->checkpoints.find(*key);
  return it == entry->checkpoints.end() ? nullptr : it->second;
}

absl::StatusOr<std::string> ResolveReference(const State& state,
                                             const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  const bool is_job = parts.size() == 2 && parts[0] == "jobs";
  const bool is_checkpoint =
      parts.size() == 4 && parts[0] == "jobs" && parts[2] == "checkpoints";
  if (!is_job && !is_checkpoint) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", reference,
                     "' is not jobs/JOB or jobs/JOB/checkpoints/CHECKPOINT"));
  }
  const JobEntry* entry = FindJob(state, parts[1]);
  if (entry == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("there is no job ", parts[1], "; see: ordo list jobs"));
  }
  if (is_job || parts[3] == "latest") return Newest(*entry);
  const CheckpointPtr checkpoint = FindCheckpoint(state, reference);
  if (checkpoint == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "there is no checkpoint ", reference, "; see: ordo list checkpoints"));
  }
  if (checkpoint->state() != checkpoints::v1::Checkpoint::AVAILABLE) {
    return absl::NotFoundError(absl::StrCat(
        "checkpoint ", reference,
        " was removed, since its job keeps only its newest; see: ordo list "
        "checkpoints"));
  }
  return reference;
}

bool NamesJob(const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  return parts.size() == 2 && parts[0] == "jobs";
}

CheckpointPtr FindReferenced(const State& state, const std::string& reference) {
  if (!NamesJob(reference)) return FindCheckpoint(state, reference);
  const JobEntry* entry = FindJob(state, JobIdOf(reference));
  return entry == nullptr ? nullptr : NewestCheckpoint(*entry);
}

absl::Status Archived(const std::string& job, JobState state) {
  const std::string& name = jobs::v1::Job::State_Name(state);
  return base::WithErrorInfo(
      absl::NotFoundError(
          absl::StrCat("job ", job, " has ended as ", name,
                       " and was archived: its name is taken for ever, and the "
                       "scheduler keeps nothing else of it")),
      {"JOB_ARCHIVED", "ordo", {{"job", job}, {"state", name}}});
}

absl::StatusOr<SpecPtr> ResolveReferences(const State& state,
                                          const NamedJobs& named,
                                          const SpecPtr& spec) {
  const auto resolve =
      [&](const std::string& reference,
          const std::string& field) -> absl::StatusOr<std::string> {
    if (IsLate(state, named.created, *spec, reference)) return reference;
    if (const auto gone = named.retired.find(JobIdOf(reference));
        gone != named.retired.end()) {
      return base::AddContext(Archived(gone->first, gone->second), field);
    }
    return base::AddContext(ResolveReference(state, reference), field);
  };
  // In its full form already, or late: the model's shape was taken from it.
  if (!spec->model().from().empty()) {
    ORDO_RETURN_IF_ERROR(resolve(spec->model().from(), "model.from"));
  }
  if (spec->checkpoints().empty() && spec->start_from().empty()) return spec;
  auto resolved = std::make_shared<jobs::v1::JobSpec>(*spec);
  for (int i = 0; i < spec->checkpoints_size(); ++i) {
    ORDO_ASSIGN_OR_RETURN(
        std::string checkpoint,
        resolve(spec->checkpoints(i), absl::StrCat("checkpoints[", i, "]")));
    resolved->set_checkpoints(i, std::move(checkpoint));
  }
  if (!spec->start_from().empty()) {
    ORDO_ASSIGN_OR_RETURN(std::string checkpoint,
                          resolve(spec->start_from(), "start_from"));
    resolved->set_start_from(std::move(checkpoint));
  }
  return resolved;
}

std::vector<std::string> PinnedBy(const JobFacts& job) {
  std::vector<std::string> names = job.references.value();
  for (const std::string& part : job.parts) names.push_back(JobName(part));
  return names;
}

void AddPins(State& state, const JobFacts& job) {
  for (const std::string& name : PinnedBy(job)) {
    state.pins[name].insert(job.id);
  }
}

void RemovePins(State& state, const JobFacts& job) {
  for (const std::string& name : PinnedBy(job)) {
    const auto pin = state.pins.find(name);
    if (pin == state.pins.end()) continue;
    pin->second.erase(job.id);
    if (pin->second.empty()) state.pins.erase(pin);
  }
}

}  // namespace ordo::scheduler::core
