#include "scheduler/core/references.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "scheduler/core/names.h"
#include "scheduler/core/scores.h"

namespace ordo::scheduler::core {
namespace {

constexpr char kBestSuffix[] = "/checkpoints/best";
constexpr char kEverySuffix[] = "/checkpoints/every";

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

// The place of a checkpoint in a state that may be changed or not; null when
// there is none.
template <typename Slot, typename AnyState>
Slot* SlotIn(AnyState& state, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 4 || parts[0] != "jobs" || parts[2] != "checkpoints") {
    return nullptr;
  }
  const auto entry = state.jobs.find(parts[1]);
  const std::optional<CheckpointKey> key = ParseId(parts[3]);
  if (entry == state.jobs.end() || !key.has_value()) return nullptr;
  const auto it = entry->second.checkpoints.find(*key);
  return it == entry->second.checkpoints.end() ? nullptr : &it->second;
}

const JobEntry* FindJob(const State& state, const std::string& job) {
  const auto it = state.jobs.find(job);
  return it == state.jobs.end() ? nullptr : &it->second;
}

absl::StatusOr<const JobEntry*> JobOf(const State& state,
                                      const std::string& reference) {
  const std::string job = JobIdOf(reference);
  const JobEntry* entry = FindJob(state, job);
  if (entry != nullptr) return entry;
  return absl::NotFoundError(
      absl::StrCat("there is no job ", job, "; see: ordo list jobs"));
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

absl::StatusOr<std::string> Best(const JobEntry& entry) {
  if (const CheckpointPtr best = BestCheckpoint(entry)) return best->name();
  const std::string& job = entry.job->id();
  return absl::NotFoundError(absl::StrCat(
      "no checkpoint of job ", job,
      " that is there was evaluated in the job itself; name one: ordo list "
      "checkpoints ",
      job));
}

// Of a reference by its full name, or a late one: that a run can go on from it.
absl::Status CheckWhole(const State& state, const std::string& reference) {
  const CheckpointPtr checkpoint = FindCheckpoint(state, reference);
  if (checkpoint == nullptr || !checkpoint->has_thin_time()) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "start_from: checkpoint ", reference,
      " was thinned: it has no optimizer state to go on with; begin with its "
      "weights (model: {from: ",
      reference, "}), or name one that is whole: ordo list checkpoints"));
}

// Whether a reference of the spec is to be looked up when its job starts.
bool IsLate(const State& state, const std::set<std::string>& created,
            const jobs::v1::JobSpec& spec, const std::string& reference) {
  if (!IsDecidedLater(reference)) return false;
  const std::string id = JobIdOf(reference);
  const JobEntry* entry = FindJob(state, id);
  const bool is_to_end =
      entry == nullptr ? created.count(id) > 0 : !IsTerminal(entry->job->state);
  return is_to_end && std::any_of(spec.needs().begin(), spec.needs().end(),
                                  [&id](const jobs::v1::Need& need) {
                                    return JobIdOf(need.job()) == id;
                                  });
}

}  // namespace

ReferenceForm FormOf(const std::string& reference) {
  const std::vector<std::string> parts = absl::StrSplit(reference, '/');
  if (parts[0] != "jobs") return ReferenceForm::kNone;
  if (parts.size() == 2) return ReferenceForm::kJob;
  if (parts.size() != 4) return ReferenceForm::kNone;
  if (parts[2] == "checkpoints") return ReferenceForm::kCheckpoint;
  if (parts[2] == "reports") return ReferenceForm::kReport;
  return ReferenceForm::kNone;
}

CheckpointPtr FindCheckpoint(const State& state, const std::string& name) {
  const CheckpointPtr* slot = SlotIn<const CheckpointPtr>(state, name);
  return slot == nullptr ? nullptr : *slot;
}

CheckpointPtr* SlotOf(State& state, const std::string& name) {
  return SlotIn<CheckpointPtr>(state, name);
}

std::string WhyGone(const checkpoints::v1::Checkpoint& checkpoint) {
  if (!checkpoint.changes().empty()) {
    const audit::v1::Change& last = *checkpoint.changes().rbegin();
    if (last.action() == kDeleteAction) {
      return absl::StrCat("deleted by ", last.user());
    }
  }
  return "removed, since its job keeps only its newest and its best";
}

ReportPtr FindReport(const State& state, const std::string& name) {
  if (FormOf(name) != ReferenceForm::kReport) return nullptr;
  const JobEntry* entry = FindJob(state, JobIdOf(name));
  if (entry == nullptr) return nullptr;
  const auto it = entry->reports.find(IdOf(name));
  return it == entry->reports.end() ? nullptr : it->second;
}

absl::StatusOr<std::string> ResolveReference(const State& state,
                                             const std::string& reference) {
  const ReferenceForm form = FormOf(reference);
  if (form != ReferenceForm::kJob && form != ReferenceForm::kCheckpoint) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", reference,
                     "' is not jobs/JOB or jobs/JOB/checkpoints/CHECKPOINT"));
  }
  ORDO_ASSIGN_OR_RETURN(const JobEntry* entry, JobOf(state, reference));
  if (NamesEvery(reference)) {
    if (IsTerminal(entry->job->state)) {
      ORDO_RETURN_IF_ERROR(Newest(*entry).status());
    }
    return reference;
  }
  if (form == ReferenceForm::kJob || IdOf(reference) == "latest") {
    return Newest(*entry);
  }
  if (NamesBest(reference)) return Best(*entry);
  const CheckpointPtr checkpoint = FindCheckpoint(state, reference);
  if (checkpoint == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        "there is no checkpoint ", reference, "; see: ordo list checkpoints"));
  }
  if (checkpoint->state() != checkpoints::v1::Checkpoint::AVAILABLE) {
    return absl::NotFoundError(absl::StrCat("checkpoint ", reference, " was ",
                                            WhyGone(*checkpoint),
                                            "; see: ordo list checkpoints"));
  }
  return reference;
}

absl::StatusOr<std::string> ResolveReport(const State& state,
                                          const std::string& reference) {
  ORDO_RETURN_IF_ERROR(JobOf(state, reference).status());
  if (FindReport(state, reference) == nullptr) {
    return absl::NotFoundError(absl::StrCat("there is no report ", reference,
                                            "; see: ordo list reports ",
                                            JobIdOf(reference)));
  }
  return reference;
}

bool NamesBest(const std::string& reference) {
  return absl::EndsWith(reference, kBestSuffix);
}

std::string BestOf(const std::string& job) {
  return absl::StrCat(JobName(job), kBestSuffix);
}

bool IsDecidedLater(const std::string& reference) {
  return NamesJob(reference) || NamesBest(reference);
}

bool NamesEvery(const std::string& reference) {
  return absl::EndsWith(reference, kEverySuffix);
}

std::string EveryOf(const std::string& job) {
  return absl::StrCat(JobName(job), kEverySuffix);
}

bool NamesJob(const std::string& reference) {
  return FormOf(reference) == ReferenceForm::kJob;
}

CheckpointPtr FindReferenced(const State& state, const std::string& reference) {
  if (!IsDecidedLater(reference)) return FindCheckpoint(state, reference);
  const JobEntry* entry = FindJob(state, JobIdOf(reference));
  if (entry == nullptr) return nullptr;
  return NamesBest(reference) ? BestCheckpoint(*entry)
                              : NewestCheckpoint(*entry);
}

bool IsNeededAsBest(const State& state, const JobEntry& entry,
                    const checkpoints::v1::Checkpoint& checkpoint) {
  if (state.pins.count(BestOf(entry.job->id())) == 0) return false;
  const CheckpointPtr best = BestCheckpoint(entry);
  return best != nullptr && best->name() == checkpoint.name();
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
  const auto check_kept = [&](const std::string& reference,
                              const std::string& field) -> absl::Status {
    const auto gone = named.retired.find(JobIdOf(reference));
    if (gone == named.retired.end()) return absl::OkStatus();
    return base::AddContext(Archived(gone->first, gone->second), field);
  };
  const auto resolve =
      [&](const std::string& reference,
          const std::string& field) -> absl::StatusOr<std::string> {
    if (IsLate(state, named.created, *spec, reference)) return reference;
    if (NamesEvery(reference) && named.created.count(JobIdOf(reference)) > 0) {
      return reference;
    }
    ORDO_RETURN_IF_ERROR(check_kept(reference, field));
    return base::AddContext(ResolveReference(state, reference), field);
  };
  const auto resolve_report =
      [&](const std::string& reference,
          const std::string& field) -> absl::StatusOr<std::string> {
    ORDO_RETURN_IF_ERROR(check_kept(reference, field));
    return base::AddContext(ResolveReport(state, reference), field);
  };
  // In its full form already, or late: the model's shape was taken from it.
  if (!spec->model().from().empty()) {
    ORDO_RETURN_IF_ERROR(resolve(spec->model().from(), "model.from"));
  }
  if (spec->checkpoints().empty() && spec->start_from().empty() &&
      !spec->has_gate()) {
    return spec;
  }
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
    ORDO_RETURN_IF_ERROR(CheckWhole(state, checkpoint));
    resolved->set_start_from(std::move(checkpoint));
  }
  if (!spec->has_gate()) return resolved;
  training::v1::Gate& gate = *resolved->mutable_gate();
  ORDO_ASSIGN_OR_RETURN(*gate.mutable_candidate(),
                        resolve(gate.candidate(), "gate.candidate"));
  for (const auto& [reference, field] :
       {std::pair(gate.mutable_baseline(), "gate.baseline"),
        std::pair(gate.mutable_anchor(), "gate.anchor")}) {
    if (reference->empty()) continue;
    ORDO_ASSIGN_OR_RETURN(*reference,
                          FormOf(*reference) == ReferenceForm::kReport
                              ? resolve_report(*reference, field)
                              : resolve(*reference, field));
  }
  return resolved;
}

std::vector<std::string> PinnedBy(const JobFacts& job) {
  std::vector<std::string> names = job.references.value();
  for (const std::string& part : job.parts) names.push_back(JobName(part));
  for (const std::string& trial : job.demand().tuned_by.jobs) {
    names.push_back(JobName(trial));
  }
  for (const std::string& pace : job.demand().paces) {
    names.push_back(JobName(pace));
  }
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
