#include "kernels/attention/testing/suite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/testing/naive.h"

namespace ordo::kernels::attention::testing {
namespace {

// What a problem's numbers are, rightly and naively.
struct Answers {
  Tensors inputs;
  Tensors judge;
  Naive naive;
};

// Computed once for all kernels.
const Answers& AnswersTo(const Case& c) {
  static auto* const known = new std::map<std::string, Answers>;
  const auto found = known->find(c.label);
  if (found != known->end()) return found->second;
  Answers answers;
  answers.inputs = answers.judge = MakeTensors(c.problem, 1);
  ReferenceBackward(c.problem, &answers.judge);
  answers.naive = RunNaive(c.problem, answers.inputs);
  return known->emplace(c.label, std::move(answers)).first->second;
}

}  // namespace

double Distance(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    const double difference = std::abs(x[i] - y[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

void ExpectNearReference(const Case& c, const Kernel& kernel,
                         const RunOptions& options) {
  const Answers& answers = AnswersTo(c);
  const Problem& problem = c.problem;
  Tensors found = answers.inputs;
  EXPECT_EQ(RunKernel(problem, kernel, options, &found), "");

  const double fp32 = Epsilon(Type::kFloat32);
  const double relative =
      Epsilon(problem.type) + fp32 * answers.naive.largest_logit;
  const auto expect_near = [&](const std::string& name, double absolute,
                               const auto& member) {
    const std::vector<double>& right = member(answers.judge);
    const double bound = 2 * Distance(member(answers.naive.tensors), right) +
                         relative * Largest(right) + absolute;
    EXPECT_LE(Distance(member(found), right), bound) << name;
  };
  for (int i = 0; i < kNumOutputs; ++i) {
    expect_near(
        NameOf(static_cast<Output>(i)),
        0, [i](const Tensors& x) -> auto& { return x.outputs[i]; });
  }
  double largest = 0;
  for (const auto& x : answers.inputs.inputs) {
    largest = std::max(largest, Largest(x));
  }
  for (int i = 0; i < kNumInputs; ++i) {
    const auto input = static_cast<Input>(i);
    const double factor = IsTable(input) ? 1 : problem.scale * largest;
    const bool is_value = i >= kValue && i < kValue + kMaxValues;
    expect_near(
        NameOf(input),
        is_value ? 0 : fp32 * answers.naive.largest_change * factor,
        [i](const Tensors& x) -> auto& { return x.d_inputs[i]; });
  }
  const double lse_bound = 4 * fp32 * (4 + answers.naive.largest_logit);
  ASSERT_EQ(found.lse_BHT.size(), answers.judge.lse_BHT.size());
  for (size_t i = 0; i < found.lse_BHT.size(); ++i) {
    const double right = answers.judge.lse_BHT[i];
    if (std::isinf(right)) {
      EXPECT_EQ(found.lse_BHT[i], right);
    } else {
      EXPECT_NEAR(found.lse_BHT[i], right, lse_bound);
    }
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
