#ifndef ORDO_KERNELS_ROWS_CHECK_ADAM_H_
#define ORDO_KERNELS_ROWS_CHECK_ADAM_H_

#include <cstdint>

#include "kernels/rows/check/ran.h"
#include "kernels/rows/problem.h"
#include "kernels/rows/table.h"

// Steps of AdamW on parameters of many lengths, and what a kernel makes of
// them.

namespace ordo::kernels::rows::check {

// A step on that many parameters; CheckAdam says where they lie.
Adam AdamOf(int64_t num_parts);

// Numbers from the first parameter to the end of the last.
int64_t CountOfAdam(const Adam& adam);

void CheckAdam(const Kernel& kernel, const Adam& adam, Ran* ran);

}  // namespace ordo::kernels::rows::check

#endif  // ORDO_KERNELS_ROWS_CHECK_ADAM_H_
