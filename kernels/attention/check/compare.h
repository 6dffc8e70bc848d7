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

// Computes what the judge says of a case and keeps it, for all kernels.
void Judge(const Case& c);

// Runs both passes. All results whose error is more than twice the naive
// computation's and one rounding (of the result to the problem's type, of the
// logits and of the weights' gradients in fp32), and what else went wrong: an
// error of the kernel, or canaries that it touched. None: it is right.
//
// Judges the case if nobody has. Not thread-safe.
std::vector<kernels::check::Miss> MissesOf(const Case& c, const Kernel& kernel,
                                           const RunOptions& options);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_
