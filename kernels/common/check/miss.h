#ifndef ORDO_KERNELS_COMMON_CHECK_MISS_H_
#define ORDO_KERNELS_COMMON_CHECK_MISS_H_

#include <limits>
#include <string>

namespace ordo::kernels::check {

// What is wrong with what a kernel made of a problem.
struct Miss {
  // The result, or what happened to the kernel or to the memory around it.
  std::string what;
  // The largest distance from the judge's numbers, and what it may be.
  double error = std::numeric_limits<double>::infinity();
  double bound = 0;
};

}  // namespace ordo::kernels::check

#endif  // ORDO_KERNELS_COMMON_CHECK_MISS_H_
