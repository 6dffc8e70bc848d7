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

void EndQueued(JobEdit& edit, const char* reason, const std::string& message) {
  LeaveQueue(edit.turn(), edit.entry(), edit.job());
  Follow(edit, Trigger::kCancel, reason, message);
  FinishJob(edit);
}

void EndLive(JobEdit& edit, const char* reason, const std::string& message) {
  Follow(edit, Trigger::kCancel, reason, message);
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
  const std::string who = absl::StrCat("cancelled by ", by.user, by.along_with);
  if (state == jobs::v1::Job::QUEUED) {
    EndQueued(edit, reason::kCancelledByUser, who + " while it waited");
  } else {
    EndLive(edit, reason::kCancelledByUser,
            who + "; its trainer is being ended");
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

void StopEarly(Turn& turn, JobEntry& entry, const std::string& why) {
  JobEdit edit(turn, entry);
  if (entry.job->state == jobs::v1::Job::QUEUED) {
    EndQueued(edit, reason::kStoppedEarly, why);
  } else {
    EndLive(edit, reason::kStoppedEarly, why);
  }
  edit.Commit();
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
