#include "kernels/torch/rows.h"

#include <functional>
#include <vector>

#include "ATen/Context.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/equal.h"
#include "ATen/ops/randn.h"
#include "gtest/gtest.h"

// Kernels of fp32 against plain operations in double.

namespace ordo::kernels::torch {
namespace {

using Inputs = std::vector<at::Tensor>;
using Step = std::function<at::Tensor(const Inputs&)>;

at::Tensor Random(at::IntArrayRef sizes) {
  return at::randn(sizes, at::kDouble);
}

// The result of a step and the gradients of what it reads.
Inputs Differentiated(const Step& step, const Inputs& inputs,
                      c10::ScalarType type) {
  Inputs leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(
        input.detach().to(type, false, /*copy=*/true).set_requires_grad(true));
  }
  const at::Tensor result = step(leaves);
  result.mul(result + 1).sum().backward();
  Inputs all = {result.detach()};
  for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

void ExpectSame(const Step& step, const Inputs& inputs) {
  const Inputs found = Differentiated(step, inputs, at::kFloat);
  const Inputs right = Differentiated(step, inputs, at::kDouble);
  for (size_t i = 0; i < right.size(); ++i) {
    EXPECT_EQ(found[i].scalar_type(), at::kFloat);
    EXPECT_LT((found[i].to(at::kDouble) - right[i]).abs().max().item<double>(),
              1e-5 * right[i].abs().max().item<double>())
        << i;
  }
}

TEST(RowsTest, TurnsEqualPlainOperations) {
  for (const bool interleaved : {false, true}) {
    for (const int64_t table_heads : {1, 3}) {
      // Heads side by side, as projections have them.
      ExpectSame(
          [&](const Inputs& x) {
            return Turn({6, interleaved}, x[0], x[1].transpose(1, 2));
          },
          {Random({1, table_heads, 5, 6}), Random({2, 5, 3, 8})});
    }
  }
}

TEST(RowsTest, TurnsOfBothEqualPlainOperations) {
  const auto both = [](const Inputs& x) {
    at::Tensor q = x[1], k = x[2];
    TurnBoth({8, false}, x[0], &q, &k);
    return at::cat({q.flatten(), k.flatten()});
  };
  ExpectSame(
      both, {Random({2, 4, 5, 8}), Random({2, 4, 5, 8}), Random({2, 4, 5, 8})});
  // Keys that heads share, and a table that all do.
  ExpectSame(
      both, {Random({1, 1, 5, 8}), Random({2, 4, 5, 8}), Random({2, 2, 5, 8})});
}

TEST(RowsTest, ATableWithoutGradientTurnsSharedKeysToo) {
  const at::Tensor table = Random({1, 1, 5, 8}).to(at::kFloat);
  const at::Tensor q = Random({2, 4, 5, 8}).to(at::kFloat);
  const at::Tensor k = Random({2, 2, 5, 8}).to(at::kFloat);
  at::Tensor q_both = q, k_both = k;
  TurnBoth({8, true}, table, &q_both, &k_both);
  EXPECT_TRUE(at::equal(q_both, Turn({8, true}, table, q)));
  EXPECT_TRUE(at::equal(k_both, Turn({8, true}, table, k)));
}

TEST(RowsTest, NormsEqualPlainOperations) {
  ExpectSame([](const Inputs& x) { return RmsNorm(x[0], x[1], 0.01); },
             {Random({2, 3, 21}), Random({21})});
}

// The type is that of x times the weight.
TEST(RowsTest, ANormOfNarrowNumbersIsOfTheWeightsType) {
  const at::Tensor y = RmsNorm(Random({2, 8}).to(at::kBFloat16),
                               Random({8}).to(at::kFloat), 0.01);
  EXPECT_EQ(y.scalar_type(), at::kFloat);
}

TEST(RowsTest, GatesEqualPlainOperations) {
  ExpectSame([](const Inputs& x) { return SwiGlu(x[0], x[1]); },
             {Random({2, 3, 21}), Random({2, 3, 21})});
  const at::Tensor narrow = Random({4, 5}).to(at::kBFloat16);
  EXPECT_EQ(SwiGlu(narrow, narrow).scalar_type(), at::kBFloat16);
}

TEST(RowsTest, StepsOfAdamEqualPlainOperations) {
  const auto run = [](c10::ScalarType type, bool strided) {
    // The same numbers each time.
    at::manual_seed(1);
    const auto make = [&] { return Random({100}).to(type); };
    AdamTensors tensors{make(), make(), make().abs(), {}};
    // Not next to each other.
    for (const int64_t first : {8, 52}) {
      at::Tensor gradient = Random({5, 7}).to(type);
      if (strided) gradient = gradient.t().contiguous().t();
      tensors.gradients.push_back({first, gradient});
    }
    AdamStep step;
    step.gradient_scale = 0.5;
    step.beta1 = 0.9;
    step.beta2 = 0.98;
    step.epsilon = 1e-8;
    step.keep = 0.99;
    step.step = 0.1;
    step.root = 0.3;
    StepAdam(step, tensors);
    return at::cat({tensors.parameter_N, tensors.m_N, tensors.v_N});
  };
  const at::Tensor right = run(at::kDouble, false);
  const at::Tensor found = run(at::kFloat, false);
  EXPECT_LT((found - right).abs().max().item<double>(), 1e-5);
  EXPECT_TRUE(at::equal(run(at::kFloat, true), found));
}

}  // namespace
}  // namespace ordo::kernels::torch
