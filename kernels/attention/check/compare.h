#ifndef ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_
#define ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_

#include <vector>

#include "kernels/attention/check/case.h"
#include "kernels/attention/check/problems.h"
#include "kernels/attention/table.h"
#include "kernels/common/check/miss.h"

// A kernel beside the judge.

namespace ordo::kernels::attention::check {

// Infinite where the sizes or the infinities differ.
double Distance(const std::vector<double>& x, const std::vector<double>& y);

// Runs both passes. All results whose error is more than twice the naive
// computation's and one rounding (of the result to the problem's type, of the
// logits and of the weights' gradients in fp32), and what else went wrong: an
// error of the kernel, or canaries that it touched. None: it is right.
//
// What the judge says of a case is kept for other kernels. Not thread-safe.
std::vector<kernels::check::Miss> MissesOf(const Case& c, const Kernel& kernel,
                                           const RunOptions& options);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_
