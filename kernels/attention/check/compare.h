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

// Runs both passes. All results whose error is more than its bound, and what
// else went wrong: an error of the kernel, canaries that it touched, or an
// input that it wrote to. None: it is right.
//
// The error of a result is its largest distance from the judge's, x its largest
// number there; u is a rounding of the problem's type (2^-23 in fp32, 2^-8 in
// bf16, 2^-11 in fp16) and e is 2^-23, as kernels sum, add to logits and keep
// tables in fp32 whatever the type. It may be
//
//   outputs, d v          2 naive + (u + e s) x
//   d of a table          2 naive + (u + e s) x + 2 e g
//   d of position slopes  2 naive + (u + e s) x + 2 e g S
//   d of q, k, ...        2 naive + (u + e s) x + 2 e g (scale m)
//   lse                   4 e (4 + s)
//
// naive  the error of the plain computation in the problem's type: the larger
//        of two that differ in what the backward pass has (naive.h)
// u x    one rounding of the result
// e s x  of its weights, which are exponentials of logits: a logit of s, the
//        largest of all and of what they are sums of, is rounded by e s, and by
//        so much, relatively, is its weight
// 2 e g  of a weight's gradient, the difference of two sums of about g, the
//        largest there is, each rounded, of which nothing may be left, as with
//        a single key; in a sum with terms of scale m, m the largest input, or
//        of counts, which go up to the number of keys S, it counts as often
//
// In fp32 the last two are what remains where one row has logits or gradients
// much larger than most; in bf16 and fp16 u mostly outweighs them.
//
// Judges the case if nobody has, until the next one. Not thread-safe.
std::vector<kernels::check::Miss> MissesOf(const Case& c, const Kernel& kernel,
                                           const RunOptions& options);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_
