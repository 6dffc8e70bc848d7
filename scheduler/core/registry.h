#ifndef ORDO_SCHEDULER_CORE_REGISTRY_H_
#define ORDO_SCHEDULER_CORE_REGISTRY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/core/effect.h"
#include "scheduler/core/event.h"
#include "scheduler/core/turn.h"

// What people do with checkpoints: aliases, pins, thinning, their end. Internal
// to scheduler/core, but for JobNamedBy.

namespace ordo::scheduler::core {

// Answered with the alias, or why it cannot be.
void HandleChangeAlias(Turn& turn, const ChangeAlias& change);
// Answered with the checkpoint as it then is, or why it cannot be.
void HandleChangeCheckpoint(Turn& turn, const ChangeCheckpoint& change);

// Who keeps a checkpoint, which is AVAILABLE, from being thinned or removed:
// each as a clause with what ends it, "it is pinned by ada (ordo unpin)".
// Empty: nobody.
std::vector<std::string> WhoHolds(
    const State& state, const checkpoints::v1::Checkpoint& checkpoint);

// Id of the job whose checkpoint a row names, which has to be in the state with
// the row; empty: there is none.
std::string JobNamedBy(const Row& row);

// The rows of aliases and pins, by kind and key; and what they say, taken back.
// DATA_LOSS for one that cannot be read.
std::vector<RowPtr> RegistryRows(const State& state);
absl::Status TakeAliasRow(const Row& row, State* state);
absl::Status TakePinRow(const Row& row, State* state);
// Has the aliases and pins of a loaded state hold on to what they name.
// DATA_LOSS when that is not there.
absl::Status HoldNamed(State* state);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_REGISTRY_H_
