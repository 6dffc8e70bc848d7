#ifndef ORDO_MODEL_TASKS_BITWISE_OR_H_
#define ORDO_MODEL_TASKS_BITWISE_OR_H_

#include "model/tasks/pairs.h"

namespace ordo::model::tasks {

// A+B=C for strings of bits from the same end, where C is 1 wherever one of
// them is and as long as the longer: what arithmetic knows of places alone
// (McLeish et al. 2024, by their generator's rules). A single bit of both
// strings is 1, at a place that both have: in the shorter string, or in either
// where they are equally long. Tokens are those of addition.
const Operation& BitwiseOr();

}  // namespace ordo::model::tasks

#endif  // ORDO_MODEL_TASKS_BITWISE_OR_H_
