// The one numeric test of all kernels: table x problems.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/table.h"
#include "kernels/attention/testing/case.h"
#include "kernels/attention/testing/naive.h"
#include "kernels/attention/testing/problems.h"

namespace ordo::kernels::attention {
namespace {

using testing::Case;
using testing::Largest;

// Infinite where the sizes or the infinities differ.
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

// What a problem's numbers are, rightly and naively.
struct Answers {
  Tensors inputs;
  Tensors judge;
  testing::Naive naive;
};

// Computed once for all kernels.
const Answers& AnswersTo(const Case& c) {
  static auto* const known = new std::map<std::string, Answers>;
  const auto found = known->find(c.label);
  if (found != known->end()) return found->second;
  Answers answers;
  answers.inputs = answers.judge = testing::MakeTensors(c.problem, 1);
  ReferenceBackward(c.problem, &answers.judge);
  answers.naive = testing::RunNaive(c.problem, answers.inputs);
  return known->emplace(c.label, std::move(answers)).first->second;
}

class AttentionTest
    : public ::testing::TestWithParam<std::tuple<std::string, Case>> {
 protected:
  void SetUp() override {
    for (const Kernel& kernel : Kernels()) {
      if (kernel.name == std::get<0>(GetParam())) kernel_ = &kernel;
    }
    ASSERT_NE(kernel_, nullptr);
    const absl::Status supported = kernel_->supports(problem());
    if (!supported.ok()) GTEST_SKIP() << supported.message();
  }

  const Problem& problem() const { return std::get<1>(GetParam()).problem; }

  const Kernel* kernel_ = nullptr;
};

// At most twice the naive computation's error and one rounding: of the result
// to the problem's type, of the logits and of the weights' gradients in fp32.
TEST_P(AttentionTest, IsNearTheReference) {
  const Answers& answers = AnswersTo(std::get<1>(GetParam()));
  Tensors found = answers.inputs;
  EXPECT_EQ(testing::RunKernel(problem(), *kernel_, 2, &found), "");

  const double fp32 = testing::Epsilon(Type::kFloat32);
  const double relative =
      testing::Epsilon(problem().type) + fp32 * answers.naive.largest_logit;
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
    const double factor = IsTable(input) ? 1 : problem().scale * largest;
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

TEST_P(AttentionTest, ThreadsChangeNoBit) {
  Tensors one = testing::MakeTensors(problem(), 2), three = one;
  testing::RunKernel(problem(), *kernel_, 1, &one);
  testing::RunKernel(problem(), *kernel_, 3, &three);
  EXPECT_EQ(one.lse_BHT, three.lse_BHT);
  for (int i = 0; i < kNumOutputs; ++i) {
    EXPECT_EQ(one.outputs[i], three.outputs[i]);
  }
  for (int i = 0; i < kNumInputs; ++i) {
    EXPECT_EQ(one.d_inputs[i], three.d_inputs[i])
        << NameOf(static_cast<Input>(i));
  }
}

std::vector<std::string> KernelNames() {
  std::vector<std::string> names;
  for (const Kernel& kernel : Kernels()) names.push_back(kernel.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(
    Table, AttentionTest,
    ::testing::Combine(::testing::ValuesIn(KernelNames()),
                       ::testing::ValuesIn(testing::Problems())),
    [](const ::testing::TestParamInfo<std::tuple<std::string, Case>>& info) {
      return std::get<0>(info.param) + "_" + std::get<1>(info.param).label;
    });

// TAPE's state gets no gradient in some layers.
TEST(MissingGradientTest, IsZero) {
  Problem problem = testing::Plain(70, 24);
  problem.num_values = 2;
  problem.values[1] = {48, problem.heads};
  Tensors judge = testing::MakeTensors(problem, 3);
  judge.d_outputs[kMixed + 1].clear();
  const Tensors inputs = judge;
  ReferenceBackward(problem, &judge);
  for (const Kernel& kernel : Kernels()) {
    if (!kernel.supports(problem).ok()) continue;
    Tensors found = inputs;
    EXPECT_EQ(testing::RunKernel(problem, kernel, 1, &found), "");
    EXPECT_EQ(Largest(found.d_inputs[kValue + 1]), 0) << kernel.name;
    for (const Input input : {kQ, kK, kValue}) {
      EXPECT_LT(Distance(found.d_inputs[input], judge.d_inputs[input]), 1e-5)
          << kernel.name << ": " << NameOf(input);
    }
  }
}

}  // namespace
}  // namespace ordo::kernels::attention
