#ifndef ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_
#define ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_

#include <vector>

#include "kernels/attention/table.h"
#include "kernels/attention/testing/case.h"
#include "kernels/attention/testing/problems.h"

// What every kernel must do with a problem: of this machine, and device code on
// an emulated device.

namespace ordo::kernels::attention::testing {

// Infinite where the sizes or the infinities differ.
double Distance(const std::vector<double>& x, const std::vector<double>& y);

// Expects of all results an error of at most twice the naive computation's and
// one rounding (of the result to the problem's type, of the logits and of the
// weights' gradients in fp32), and untouched canaries.
void ExpectNearReference(const Case& c, const Kernel& kernel,
                         const RunOptions& options);

// Expects the same bits of two runs.
void ExpectSameBits(const Problem& problem, const Kernel& kernel,
                    const RunOptions& options, const RunOptions& others);

// Expects of a number that is none that it goes through to the outputs: a model
// that diverges has to show it.
void ExpectNotANumberIsSeen(Type type, const Kernel& kernel);

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_SUITE_H_
