#ifndef ORDO_SCHEDULER_CORE_APPLY_H_
#define ORDO_SCHEDULER_CORE_APPLY_H_

#include <optional>

#include "absl/time/time.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/event.h"
#include "scheduler/core/moment.h"
#include "scheduler/core/state.h"

// The scheduler's decisions: a pure function of state, event and time. No I/O,
// no clock, no threads, no randomness: the same calls give the same effects.

namespace ordo::scheduler::core {

// Expires what is due at `now`, takes the event, places waiting jobs. Total:
// every event is legal in every state, a refusal is an effect too. The
// monotonic clock of `now` never goes back.
Effects Apply(State& state, Event event, const Moment& now);

// When Apply must be called next with a Tick, on the monotonic clock; nothing
// when no deadline is set.
std::optional<absl::Duration> NextDeadline(const State& state);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_APPLY_H_
