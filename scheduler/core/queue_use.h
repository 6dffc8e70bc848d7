#ifndef ORDO_SCHEDULER_CORE_QUEUE_USE_H_
#define ORDO_SCHEDULER_CORE_QUEUE_USE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/turn.h"

// What queues used of each kind of device, as their fair shares count it, over
// restarts. It is a row of kind kQueueUse for each queue and kind, made when
// attempts end, and not derived from the jobs: those that have ended are not
// read at a start. What attempts use that are live at a restart follows from
// their starts. Internal to scheduler/core.

namespace ordo::scheduler::core {

// Records what was used of that of which ranks ended in this turn; of what was
// recorded within the last second (monotonic) nothing. So a restart forgets a
// second of the ended attempts at most. Called once, late in a turn.
void RecordUse(Turn& turn);

// The queue is deleted, and what it used is forgotten.
void ForgetUse(Turn& turn, const std::string& queue);

// The rows, by key; and what one says, taken back: DATA_LOSS for one that
// cannot be read.
std::vector<RowPtr> UseRows(const State& state);
absl::Status TakeUseRow(const Row& row, State* state);

// Brings the board up to date with what was taken back: after its queues, and
// before the live attempts, which are to come in the order of their starts.
void ShowUse(State& state, const Moment& now);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_QUEUE_USE_H_
