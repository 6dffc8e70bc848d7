#ifndef ORDO_TESTS_SIM_STOPPED_H_
#define ORDO_TESTS_SIM_STOPPED_H_

#include <set>
#include <string>

#include "absl/status/status.h"
#include "scheduler/core/state.h"
#include "tests/sim/durable.h"

namespace ordo::tests::sim {

// INTERNAL, naming the part, unless the parts of sweeps that are to be stopped
// early (sweep.early_stopping) are, and `newly`, which an event has stopped so,
// were to be: by the scores that have left the core in records, counted again
// here. Of a sweep one part at least is never stopped so.
absl::Status CheckStoppedEarly(const scheduler::core::State& state,
                               const Durable& durable,
                               const std::set<std::string>& newly);

}  // namespace ordo::tests::sim

#endif  // ORDO_TESTS_SIM_STOPPED_H_
