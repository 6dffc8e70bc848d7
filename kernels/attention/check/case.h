#ifndef ORDO_KERNELS_ATTENTION_CHECK_CASE_H_
#define ORDO_KERNELS_ATTENTION_CHECK_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/problem.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"
#include "kernels/common/device_memory.h"

// A problem with numbers in it, and what a kernel makes of it, for the test of
// kernels and the probe of devices.

namespace ordo::kernels::attention::check {

// Rounded to the type, ties to even.
double Rounded(Type type, double x);

// The distance between 1 and the next number of the type.
double Epsilon(Type type);

// The largest absolute value; 0 of none.
double Largest(const std::vector<double>& x);

// The inputs and the gradients of the outputs, standard normal and rounded to
// their types; knots lie between numbers. With padding, a third of the keys at
// the beginning of odd rows and at the end of even ones, and all of the last
// row if there are three. Position ids have gaps in even rows; first keys
// differ by row and head.
Tensors MakeTensors(const Problem& problem, uint64_t seed);

// How a kernel is run.
struct RunOptions {
  int threads = 1;
  // Elements between the rows of a tensor. With 3 no row begins where a vector
  // would; with 8 all do, if the widths are multiples of 8.
  int64_t gap = 3;
  // Of the problem's device; null: the CPU's.
  const DeviceMemory* memory = nullptr;
};

// Runs the kernel on copies in the problem's type and fills in what it gives.
// Every tensor lies among canaries, in rows longer than its width; the return
// value names those whose canaries were touched, and what the kernel is only to
// read and wrote to, or is the kernel's error.
std::string RunKernel(const Problem& problem, const Kernel& kernel,
                      const RunOptions& options, Tensors* tensors);

}  // namespace ordo::kernels::attention::check

#endif  // ORDO_KERNELS_ATTENTION_CHECK_CASE_H_
