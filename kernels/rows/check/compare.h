#ifndef ORDO_KERNELS_ROWS_CHECK_COMPARE_H_
#define ORDO_KERNELS_ROWS_CHECK_COMPARE_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/common/check/miss.h"
#include "kernels/rows/table.h"

// A kernel beside the judge.

namespace ordo::kernels::rows::check {

// Something that kernels do, with numbers, forward and backward.
struct Case {
  std::string label;
  // Of its largest tensor.
  int64_t count;
  // All results whose error is more than twice the naive computation's and one
  // rounding, and what else went wrong. None: the kernel is right.
  std::function<std::vector<kernels::check::Miss>(const Kernel& kernel)>
      misses_of;
};

// What GoogleTest calls it.
void PrintTo(const Case& c, std::ostream* out);

// All that the table's kernels do, in widths around whole vectors and in each
// type that the device's kernels read.
std::vector<Case> Cases(Device device);

}  // namespace ordo::kernels::rows::check

#endif  // ORDO_KERNELS_ROWS_CHECK_COMPARE_H_
