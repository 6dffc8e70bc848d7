#ifndef ORDO_KERNELS_UPDATE_CHECK_COMPARE_H_
#define ORDO_KERNELS_UPDATE_CHECK_COMPARE_H_

#include <string>
#include <utility>
#include <vector>

#include "kernels/common/check/miss.h"
#include "kernels/update/check/case.h"

// A kernel beside the judge.

namespace ordo::kernels::update::check {

// What a kernel gives, by name.
const std::vector<std::pair<std::string, std::vector<double> Tensors::*>>&
Results();

// Runs both passes in two threads. All results whose error is more than twice
// the naive computation's and one rounding, of the narrowest type that the case
// has, of the result's largest number, and what else went wrong. None: it is
// right.
std::vector<kernels::check::Miss> MissesOf(const Case& c, const Kernel& kernel);

}  // namespace ordo::kernels::update::check

#endif  // ORDO_KERNELS_UPDATE_CHECK_COMPARE_H_
