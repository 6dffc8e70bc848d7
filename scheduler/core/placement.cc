#include "scheduler/core/placement.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/core/attempts.h"
#include "scheduler/core/reasons.h"
#include "scheduler/core/results.h"

namespace ordo::scheduler::core {
namespace {

void Stop(Turn& turn, const policy::Preemption& preemption) {
  State& state = turn.state;
  const std::string& job = state.waiting.at(preemption.job)->id;
  JobEntry& entry = state.jobs.at(state.running.at(preemption.victim)->id);
  JobEdit edit(turn, entry);
  StopAttempt(edit, reason::kPreempted,
              preemption.why == policy::Preemption::Why::kPriority
                  ? absl::StrCat("job ", job, " has a higher priority")
                  : absl::StrCat("the queue of job ", job,
                                 " takes back what it is guaranteed"));
  edit.Commit();
}

// Sets the time at which the policy is asked again.
void SetPlaceDeadline(State& state, std::optional<absl::Duration> at) {
  const std::string nobody;
  SetDeadline(state, {Deadline::Kind::kPlace, nobody, &state.place_at}, at);
}

}  // namespace

void PlaceJobs(Turn& turn) {
  State& state = turn.state;
  const absl::Duration now = turn.now.monotonic;
  const bool is_time = state.place_at.has_value() && *state.place_at <= now;
  if (!state.board_changed && !is_time) return;
  const policy::Decisions decisions = state.options.place(state.board, now);
  bool any_awaits = false;
  for (const policy::Start& start : decisions.starts) {
    const std::string job = state.waiting.at(start.job)->id;
    if (AwaitAnswer(turn, job)) {
      any_awaits = true;
    } else {
      StartAttempt(turn, job, start.parts);
    }
  }
  for (const policy::Reservation& reservation : decisions.reservations) {
    state.board.Reserve(reservation);
  }
  for (const policy::Preemption& preemption : decisions.preemptions) {
    Stop(turn, preemption);
  }
  state.board.NoteAskAgain(decisions.ask_again_at);
  state.placed_at = now;
  state.board_changed = false;
  // What a job that awaits another left free is for the next.
  const absl::Duration next =
      decisions.more || any_awaits
          ? now
          : std::min(decisions.ask_again_at, decisions.lapses_at);
  SetPlaceDeadline(state, next < absl::InfiniteDuration()
                              ? std::make_optional(next)
                              : std::nullopt);
}

}  // namespace ordo::scheduler::core
