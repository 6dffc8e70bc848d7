#ifndef ORDO_SCHEDULER_POLICY_POLICY_H_
#define ORDO_SCHEDULER_POLICY_POLICY_H_

#include <string_view>

#include "absl/time/time.h"
#include "scheduler/policy/board.h"
#include "scheduler/policy/decisions.h"

namespace ordo::scheduler::policy {

// What to do now. Pure, stateless, idempotent: carried out, and asked again at
// the same moment, it answers nothing.
using PlaceFunction = Decisions (*)(const Board& board, absl::Duration now);

struct Policy {
  std::string_view name;
  PlaceFunction place;
};

}  // namespace ordo::scheduler::policy

#endif  // ORDO_SCHEDULER_POLICY_POLICY_H_
