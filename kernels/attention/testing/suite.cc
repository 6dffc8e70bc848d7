#include "kernels/attention/testing/suite.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/check/compare.h"
#include "kernels/common/testing/captured.h"

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

namespace {

void ExpectSame(const Tensors& x, const Tensors& y) {
  EXPECT_EQ(x.lse_BHT, y.lse_BHT);
  for (int i = 0; i < kNumOutputs; ++i) {
    EXPECT_EQ(x.outputs[i], y.outputs[i]) << NameOf(static_cast<Output>(i));
  }
  for (int i = 0; i < kNumInputs; ++i) {
    EXPECT_EQ(x.d_inputs[i], y.d_inputs[i]) << NameOf(static_cast<Input>(i));
  }
}

}  // namespace

void ExpectSameBits(const Case& c, const Kernel& kernel,
                    const RunOptions& options, const RunOptions& others) {
  Tensors x = MakeTensors(c.problem, 2);
  if (c.draw != nullptr) c.draw(c.problem, &x);
  Tensors y = x;
  EXPECT_EQ(RunKernel(c.problem, kernel, options, &x), "");
  EXPECT_EQ(RunKernel(c.problem, kernel, others, &y), "");
  ExpectSame(x, y);
}

void ExpectSameBitsFromGraphs(const Problem& problem, const Kernel& kernel,
                              const DeviceGraphs& graphs,
                              const RunOptions& options) {
  Tensors x = MakeTensors(problem, 2), y = x;
  EXPECT_EQ(RunKernel(problem, kernel, options, &x), "");
  const Kernel of_graphs = kernels::testing::WithGraphs(graphs, kernel);
  EXPECT_EQ(RunKernel(problem, of_graphs, options, &y), "");
  ExpectSame(x, y);
}

void ExpectRefused(const Kernel& kernel, const Problem& problem,
                   const std::vector<Refused>& refused) {
  EXPECT_EQ(kernel.supports(problem), absl::OkStatus()) << kernel.name;
  for (const auto& [what, change] : refused) {
    Problem changed = problem;
    change(&changed);
    const absl::Status status = kernel.supports(changed);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented)
        << kernel.name << ": " << what;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(what))
        << kernel.name;
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

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// Whether numbers [begin, end) are numbers.
bool AreNumbers(const std::vector<double>& x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    if (std::isnan(x[i])) return false;
  }
  return true;
}

// A head of which keys count up to a distance of about 50.
Problem SteepProblem(Type type, Device device) {
  Problem problem = Plain(704, 64);
  problem.type = type;
  problem.device = device;
  problem.batch = problem.heads = problem.key_heads = 1;
  problem.values[0].heads = 1;
  problem.biased = true;
  problem.reach = problem.keys - 1;
  return problem;
}

}  // namespace

void ExpectFarKeysAreLeftOut(Type type, const Kernel& kernel,
                             const RunOptions& options) {
  SCOPED_TRACE(kernel.name);
  const Problem problem = SteepProblem(type, kernel.device);
  if (!kernel.supports(problem).ok()) return;
  const int64_t width = problem.width, count = problem.keys * width;
  // Tiles have up to 128 queries and as many keys.
  constexpr int64_t kFar = 256, kFarApart = 384;
  Tensors x = MakeTensors(problem, 5);
  check::DrawFallingBias(problem, &x);
  Tensors value = x, change = x, key = x;
  value.inputs[kValue][0] = kNone;
  ASSERT_EQ(RunKernel(problem, kernel, options, &value), "");
  EXPECT_TRUE(std::isnan(value.outputs[kMixed][0]));
  EXPECT_TRUE(AreNumbers(value.outputs[kMixed], kFar * width, count));
  EXPECT_TRUE(AreNumbers(value.d_inputs[kQ], kFar * width, count));
  EXPECT_TRUE(
      AreNumbers(value.d_inputs[kBias], 0, problem.reach + 1 - kFarApart));
  change.d_outputs[kMixed].back() = kNone;
  ASSERT_EQ(RunKernel(problem, kernel, options, &change), "");
  EXPECT_TRUE(std::isnan(change.d_inputs[kK].back()));
  for (const Input input : {kK, kValue}) {
    EXPECT_TRUE(AreNumbers(change.d_inputs[input], 0, kFarApart * width))
        << NameOf(input);
  }
  key.inputs[kK][0] = kNone;
  ASSERT_EQ(RunKernel(problem, kernel, options, &key), "");
  for (const double lse : key.lse_BHT) EXPECT_TRUE(std::isnan(lse));
}

}  // namespace ordo::kernels::attention::testing
