#ifndef ORDO_KERNELS_ATTENTION_TESTING_HOPPER_PROBLEMS_H_
#define ORDO_KERNELS_ATTENTION_TESTING_HOPPER_PROBLEMS_H_

#include <vector>

#include "kernels/attention/check/problems.h"

// The problems that cuda_hopper is tested on, some of which it refuses.

namespace ordo::kernels::attention::testing {

// Those of check::Problems(); and what that kernel does otherwise in long rows,
// beside wide keys and values, and of a single token.
std::vector<check::Case> HopperProblems();

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_HOPPER_PROBLEMS_H_
