#ifndef ORDO_KERNELS_ROWS_CHECK_TURN_H_
#define ORDO_KERNELS_ROWS_CHECK_TURN_H_

#include <string>
#include <vector>

#include "kernels/common/check/numbers.h"
#include "kernels/rows/check/ran.h"
#include "kernels/rows/problem.h"
#include "kernels/rows/reference.h"
#include "kernels/rows/table.h"

// Rotations with numbers in them, and what a kernel makes of them.

namespace ordo::kernels::rows::check {

struct TurnCase {
  std::string label;
  int64_t tokens;
  int64_t width;
  int64_t channels;
};

// Of two rows of three heads.
Rotation RotationOf(const TurnCase& c, Type type, bool interleaved);

// Standard normal.
RotationTensors RotationNumbers(const Rotation& rotation);

// A tensor [B,H,T,width].
View Contiguous(kernels::check::Guarded* x, const Rotation& rotation,
                int64_t width);

// Both passes, in two threads.
RotationTensors RunTurn(const Kernel& kernel, Rotation rotation,
                        const RotationTensors& given, Ran* ran);

void CheckTurn(const Kernel& kernel, const Rotation& rotation, Ran* ran);

}  // namespace ordo::kernels::rows::check

#endif  // ORDO_KERNELS_ROWS_CHECK_TURN_H_
