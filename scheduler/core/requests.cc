#include "scheduler/core/requests.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"
#include "scheduler/core/life.h"
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

void CancelQueued(JobEdit& edit, const std::string& user) {
  LeaveQueue(edit.turn(), edit.entry(), edit.job());
  Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
         absl::StrCat("cancelled by ", user, " while it waited"));
  FinishJob(edit);
}

void CancelLive(JobEdit& edit, const std::string& user) {
  Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
         absl::StrCat("cancelled by ", user, "; its trainer is being ended"));
  TellWorkersOf(edit.turn(), *LiveIn(edit.entry()));
  ShowStopping(edit.turn(), edit.read(),
               edit.turn().state.options.cancel_grace);
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
  if (state != jobs::v1::Job::CANCELLING) {
    JobEdit edit(turn, *entry);
    edit.job().cancelled_by = cancel.user;
    if (state == jobs::v1::Job::QUEUED) {
      CancelQueued(edit, cancel.user);
    } else {
      CancelLive(edit, cancel.user);
    }
    edit.Commit();
  }
  AnswerWith(turn, cancel.call, *entry);
}

void HandleHold(Turn& turn, const Hold& hold) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, hold.call, hold.job, "can be put on hold");
  if (entry == nullptr) return;
  if (entry->job->held_by.empty()) {
    JobEdit edit(turn, *entry);
    edit.job().held_by = hold.user.empty() ? kUnknownUser : hold.user;
    edit.job().reason = reason::kHeld;
    edit.job().message.clear();
    UpdateWaiting(turn.state, *entry, edit.job());
    edit.Commit();
  }
  AnswerWith(turn, hold.call, *entry);
}

void HandleRelease(Turn& turn, const Release& release) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, release.call, release.job, "can be released");
  if (entry == nullptr) return;
  if (!entry->job->held_by.empty()) {
    JobEdit edit(turn, *entry);
    edit.job().held_by.clear();
    edit.job().reason = WaitReason(edit.job(), std::get<Queued>(entry->place));
    UpdateWaiting(turn.state, *entry, edit.job());
    edit.Commit();
  }
  AnswerWith(turn, release.call, *entry);
}

void HandleSetPriority(Turn& turn, const SetPriority& set) {
  JobEntry* entry =
      FindQueuedOrAnswer(turn, set.call, set.job, "gets another priority");
  if (entry == nullptr) return;
  if (entry->job->priority != set.priority) {
    JobEdit edit(turn, *entry);
    edit.job().priority = set.priority;
    edit.job().priority_set_by = set.user.empty() ? kUnknownUser : set.user;
    edit.Commit();
    ShowPriority(turn.state, *entry->job);
  }
  AnswerWith(turn, set.call, *entry);
}

}  // namespace ordo::scheduler::core
