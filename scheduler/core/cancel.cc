#include "scheduler/core/cancel.h"

#include "absl/strings/str_cat.h"
#include "base/units/units.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/board.h"
#include "scheduler/core/life.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/waiting.h"

namespace ordo::scheduler::core {
namespace {

struct Cancellation {
  std::string user;
  // Follows the user in a message, with a space before it; may be empty.
  std::string along_with = {};
};

void CancelQueued(JobEdit& edit, const Cancellation& by) {
  LeaveQueue(edit.turn(), edit.entry(), edit.job());
  Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
         absl::StrCat("cancelled by ", by.user, by.along_with,
                      " while it waited"));
  FinishJob(edit);
}

void CancelLive(JobEdit& edit, const Cancellation& by) {
  Follow(edit, Trigger::kCancel, reason::kCancelledByUser,
         absl::StrCat("cancelled by ", by.user, by.along_with,
                      "; its trainer is being ended"));
  TellWorkersOf(edit.turn(), *LiveIn(edit.entry()));
  ShowStopping(edit.turn(), edit.read(),
               edit.turn().state.options.cancel_grace);
}

// Nothing, when it has ended or is cancelled already.
void CancelOne(Turn& turn, JobEntry& entry, const Cancellation& by) {
  const JobState state = entry.job->state;
  if (IsTerminal(state) || state == jobs::v1::Job::CANCELLING) return;
  JobEdit edit(turn, entry);
  edit.job().cancelled_by = by.user;
  if (state == jobs::v1::Job::QUEUED) {
    CancelQueued(edit, by);
  } else {
    CancelLive(edit, by);
  }
  edit.Commit();
}

void CancelParts(Turn& turn, const JobFacts& parent, const std::string& user) {
  const Cancellation by{
      user, absl::StrCat(" with ", parent.id, ", which it is part of,")};
  for (const std::string& part : parent.parts) {
    const auto entry = turn.state.jobs.find(part);
    if (entry != turn.state.jobs.end()) CancelOne(turn, entry->second, by);
  }
}

}  // namespace

void CancelJob(Turn& turn, JobEntry& entry, const std::string& user) {
  const FactsPtr facts = entry.job->facts;
  // First: it does not wait for its parts any more, whose end would tell it.
  CancelOne(turn, entry, {user});
  CancelParts(turn, *facts, user);
}

void ExpireQueueTime(Turn& turn, const std::string& job) {
  JobEntry& entry = turn.state.jobs.at(job);
  const FactsPtr facts = entry.job->facts;
  JobEdit edit(turn, entry);
  LeaveQueue(turn, entry, edit.job());
  Follow(edit, Trigger::kExpire, reason::kQueueTimeLimit,
         absl::StrCat("it waited for longer than its queue_time_limit of ",
                      base::HumanDuration(facts->demand().queue_time_limit),
                      "; to submit it again: ordo rerun ", job));
  FinishJob(edit);
  edit.Commit();
}

}  // namespace ordo::scheduler::core
