#ifndef ORDO_KERNELS_UPDATE_CHECK_CASE_H_
#define ORDO_KERNELS_UPDATE_CHECK_CASE_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/common/check/numbers.h"
#include "kernels/update/problem.h"
#include "kernels/update/reference.h"
#include "kernels/update/table.h"

// Problems with numbers in them, and what a kernel makes of them, for the test
// of kernels and the probe of devices.

namespace ordo::kernels::update::check {

struct Case {
  std::string label;
  Problem problem;
  // Of the state, and of what else has a type.
  Type type = Type::kFloat32;
  Type other = Type::kFloat32;
  // Whether a token's heads lie side by side.
  bool by_tokens = false;
};

// Of the state.
int64_t CountOf(const Problem& problem);

// What GoogleTest calls it.
void PrintTo(const Case& c, std::ostream* out);

// Each kind of map, shapes that fill no vector among them, in each type that
// the device's kernels read and mixes of types.
std::vector<Case> Cases(Device device);

// Inputs and the gradient of `out`, standard normal.
Tensors MakeTensors(const Case& c);

// A state as the kernel has it.
class State {
 public:
  State(const Case& c, Type type, const std::vector<double>& x);
  // For a kernel to write.
  State(const Case& c, Type type);

  View view();
  std::vector<double> Values() const;
  bool IsIntact() const { return guarded_.IsIntact(); }
  bool IsAsMade() const { return guarded_.IsAsMade(); }

 private:
  const Case& case_;
  const Type type_;
  kernels::check::Guarded guarded_;
};

// What a kernel made of the tensors, and what went wrong: its error, or memory
// that it overwrote, its inputs' too. Empty: nothing.
struct Ran {
  Tensors tensors;
  std::string trouble;
};

// Both passes.
Ran RunKernel(const Case& c, const Kernel& kernel, int threads,
              const Tensors& inputs);

}  // namespace ordo::kernels::update::check

#endif  // ORDO_KERNELS_UPDATE_CHECK_CASE_H_
