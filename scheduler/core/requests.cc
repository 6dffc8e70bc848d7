#include "scheduler/core/requests.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/board.h"
#include "scheduler/core/cancel.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

void AnswerWith(Turn& turn, uint64_t call, const JobEntry& entry) {
  turn.Emit(Answer{call, std::vector<JobPtr>{entry.job}});
}

// Null when there is none, which is answered then.
JobEntry* FindOrAnswer(Turn& turn, uint64_t call, const std::string& job) {
  const auto it = turn.state.jobs.find(job);
  if (it != turn.state.jobs.end()) return &it->second;
  turn.Emit(
      Answer{call, absl::NotFoundError(absl::StrCat("there is no job ", job,
                                                    "; see: ordo list jobs"))});
  return nullptr;
}

// The same for what is only done to a queued job.
JobEntry* FindQueuedOrAnswer(Turn& turn, uint64_t call, const std::string& job,
                             const char* what) {
  JobEntry* entry = FindOrAnswer(turn, call, job);
  if (entry == nullptr || entry->job->state == jobs::v1::Job::QUEUED) {
    return entry;
  }
  turn.Emit(Answer{call, absl::FailedPreconditionError(absl::StrCat(
                             "job ", job, " is ",
                             jobs::v1::Job::State_Name(entry->job->state),
                             "; only a queued job ", what))});
  return nullptr;
}

// The job and its parts, those that are queued; it is itself.
std::vector<JobEntry*> QueuedWithParts(State& state, JobEntry& entry) {
  std::vector<JobEntry*> queued = {&entry};
  for (const std::string& id : entry.job->facts->parts) {
    const auto part = state.jobs.find(id);
    if (part != state.jobs.end() &&
        part->second.job->state == jobs::v1::Job::QUEUED) {
      queued.push_back(&part->second);
    }
  }
  return queued;
}

void HoldOne(Turn& turn, JobEntry& entry, const std::string& user) {
  if (!entry.job->held_by.empty()) return;
  JobEdit edit(turn, entry);
  edit.job().held_by = user.empty() ? kUnknownUser : user;
  edit.job().reason = reason::kHeld;
  edit.job().message.clear();
  UpdateWaiting(turn.state, entry, edit.job());
  edit.Commit();
}

void ReleaseOne(Turn& turn, JobEntry& entry) {
  if (entry.job->held_by.empty()) return;
  JobEdit edit(turn, entry);
  edit.job().held_by.clear();
  edit.job().reason = WaitReason(edit.job(), std::get<Queued>(entry.place));
  UpdateWaiting(turn.state, entry, edit.job());
  edit.Commit();
}

void SetOnePriority(Turn& turn, JobEntry& entry, const SetPriority& set) {
  if (entry.job->priority == set.priority) return;
  JobEdit edit(turn, entry);
  edit.job().priority = set.priority;
  edit.job().priority_set_by = set.user.empty() ? kUnknownUser : set.user;
  edit.Commit();
  ShowPriority(turn.state, *entry.job);
}

}  // namespace

void HandleCancel(Turn& turn, const Cancel& cancel) {
  JobEntry* entry = FindOrAnswer(turn, cancel.call, cancel.job);
  if (entry == nullptr) return;
  const JobState state = entry->job->state;
  if (IsTerminal(state)) {
    turn.Emit(Answer{cancel.call,
                     absl::FailedPreconditionError(absl::StrCat(
                         "job ", cancel.job, " has ended already: ",
                         jobs::v1::Job::State_Name(state),
                         "; to run it again: ordo rerun ", cancel.job))});
    return;
  }
  CancelJob(turn, *entry, cancel.user);
  AnswerWith(turn, cancel.call, *entry);
}

void HandleHold(Turn& turn, const Hold& hold) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, hold.call, hold.job, "can be put on hold");
  if (entry == nullptr) return;
  for (JobEntry* each : QueuedWithParts(turn.state, *entry)) {
    HoldOne(turn, *each, hold.user);
  }
  AnswerWith(turn, hold.call, *entry);
}

void HandleRelease(Turn& turn, const Release& release) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, release.call, release.job, "can be released");
  if (entry == nullptr) return;
  for (JobEntry* each : QueuedWithParts(turn.state, *entry)) {
    ReleaseOne(turn, *each);
  }
  AnswerWith(turn, release.call, *entry);
}

void HandleSetPriority(Turn& turn, const SetPriority& set) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, set.call, set.job, "gets another priority");
  if (entry == nullptr) return;
  for (JobEntry* each : QueuedWithParts(turn.state, *entry)) {
    SetOnePriority(turn, *each, set);
  }
  AnswerWith(turn, set.call, *entry);
}

}  // namespace ordo::scheduler::core
