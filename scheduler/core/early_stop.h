#ifndef ORDO_SCHEDULER_CORE_EARLY_STOP_H_
#define ORDO_SCHEDULER_CORE_EARLY_STOP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/core/turn.h"

// Which parts of a sweep end before their last step: those that their own
// evaluations show to be behind. Internal to scheduler/core.

namespace ordo::scheduler::core {

// Whether parts may end at a step by this rule.
bool JudgesAt(const EarlyStop& rule, int64_t step);

// Why a part with this score is too far behind all that reported at the step,
// its own score among theirs: "is worse than the median of 5 runs there,
// 0.25". Empty: it is not.
std::string WhyBehind(const EarlyStop& rule, double score,
                      const std::vector<double>& scores);

// Ends parts that turn.reported, and what stood before, shows to be behind. One
// whose report lacks the score gets a warning.
void JudgeParts(Turn& turn);

}  // namespace ordo::scheduler::core

#endif  // ORDO_SCHEDULER_CORE_EARLY_STOP_H_
