#include "kernels/attention/testing/suite.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/attention/check/compare.h"

namespace ordo::kernels::attention::testing {

using check::MakeTensors;
using check::Plain;
using check::RunKernel;

void ExpectNearReference(const Case& c, const Kernel& kernel,
                         const RunOptions& options) {
  for (const auto& miss : check::MissesOf(c, kernel, options)) {
    ADD_FAILURE() << miss.what << ": " << miss.error << " is more than "
                  << miss.bound;
  }
}

void ExpectSameBits(const Problem& problem, const Kernel& kernel,
                    const RunOptions& options, const RunOptions& others) {
  Tensors x = MakeTensors(problem, 2), y = x;
  EXPECT_EQ(RunKernel(problem, kernel, options, &x), "");
  EXPECT_EQ(RunKernel(problem, kernel, others, &y), "");
  EXPECT_EQ(x.lse_BHT, y.lse_BHT);
  for (int i = 0; i < kNumOutputs; ++i) {
    EXPECT_EQ(x.outputs[i], y.outputs[i]) << NameOf(static_cast<Output>(i));
  }
  for (int i = 0; i < kNumInputs; ++i) {
    EXPECT_EQ(x.d_inputs[i], y.d_inputs[i]) << NameOf(static_cast<Input>(i));
  }
}

void ExpectNotANumberIsSeen(Type type, const Kernel& kernel) {
  constexpr int64_t kToken = 65;
  Problem problem = Plain(70, 24);
  problem.type = type;
  problem.device = kernel.device;
  problem.batch = problem.heads = problem.key_heads = 1;
  problem.values[0].heads = 1;
  for (const Input input : {kQ, kK, kValue, kGateQ, kGateK}) {
    const bool of_query = input == kQ || input == kGateQ;
    const bool gated = input == kGateQ || input == kGateK;
    problem.gates = gated ? Gates::kOwn : Gates::kNone;
    problem.positions = gated ? 9 : 0;
    if (!kernel.supports(problem).ok()) continue;
    Tensors found = MakeTensors(problem, 4);
    found.inputs[input][kToken * problem.width] =
        std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(RunKernel(problem, kernel, RunOptions(), &found), "");
    for (int64_t t = 0; t < problem.queries; ++t) {
      const bool sees = t == kToken || (t > kToken && !of_query);
      // A value that is none spoils its tile, as it would spoil all in a
      // product of matrices.
      if (input == kValue && !sees) continue;
      if (input != kValue) {
        EXPECT_EQ(std::isnan(found.lse_BHT[t]), sees)
            << kernel.name << " " << t;
      }
      EXPECT_EQ(std::isnan(found.outputs[kMixed][t * problem.width]), sees)
          << kernel.name << ": " << NameOf(input) << " " << t;
    }
  }
}

}  // namespace ordo::kernels::attention::testing
