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
// The error of a result is its largest distance from the judge's. It may be
// twice that of the naive computation in the type (naive.h) and one
// rounding, of the largest number that the result is made of:
//
//   u x          the result itself, of at most x
//   e s x        its weights, exponentials of logits of at most s
//   2 e g f      d of all but values: differences of two sums of at most g, of
//                which nothing may be left, times a factor of f
//   u g sqrt(n)  d of a score mod's parameters, of its numbers of queries, and
//                of position slopes: the n outputs that they are taken from,
//                one for each of T queries, or of H heads
//   e l / ln 2   lse, in the place of all these: in powers of two, the larger
//                of s and ln S
//
// The term is the largest of them. u is a rounding of the problem's type (2^-23
// in fp32, 2^-8 in bf16, 2^-11 in fp16) and e is 2^-23, as kernels sum, add to
// logits and keep tables in fp32 whatever the type. f is 1 for a table, the
// number of keys for position slopes, which are times counts, the largest
// derivative of a score mod for what it is of, and otherwise scale times the
// largest input.
//
// Judges the case if nobody has, until the next one. Not thread-safe.
std::vector<kernels::check::Miss> MissesOf(const Case& c, const Kernel& kernel,
                                           const RunOptions& options);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_COMPARE_H_
