#ifndef ORDO_KERNELS_ATTENTION_TESTING_CASE_H_
#define ORDO_KERNELS_ATTENTION_TESTING_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"

// A problem with numbers in it, and what a kernel makes of it, for the test and
// the benchmark of kernels.

namespace ordo::kernels::attention::testing {

// Rounded to the type, ties to even.
double Rounded(Type type, double x);

// The distance between 1 and the next number of the type.
double Epsilon(Type type);

// The largest absolute value; 0 of none.
double Largest(const std::vector<double>& x);

// The inputs and the gradients of the outputs, standard normal and rounded to
// their types; f of a ramp is continuous. With padding, a third of the keys at
// the beginning of odd rows and at the end of even ones, and all of the last
// row if there are three. Position ids have gaps; first keys differ by row and
// head.
Tensors MakeTensors(const Problem& problem, uint64_t seed);

// Runs the kernel on copies in the problem's type and fills in what it gives.
// Every tensor lies among canaries, in rows longer than its width; the return
// value names those whose canaries were touched.
std::string RunKernel(const Problem& problem, const Kernel& kernel, int threads,
                      Tensors* tensors);

}  // namespace ordo::kernels::attention::testing

#endif  // ORDO_KERNELS_ATTENTION_TESTING_CASE_H_
