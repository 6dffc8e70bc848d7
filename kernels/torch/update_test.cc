#include "kernels/torch/update.h"

#include <functional>
#include <vector>

#include "ATen/ops/randn.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

using Inputs = std::vector<at::Tensor>;
using Step = std::function<at::Tensor(const Inputs&)>;

// The result of a step and the gradients of what it reads.
std::vector<at::Tensor> Differentiated(const Step& step, const Inputs& inputs,
                                       c10::ScalarType type) {
  Inputs leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(
        input.detach().to(type, false, /*copy=*/true).set_requires_grad(true));
  }
  const at::Tensor result = step(leaves);
  result.mul(result).sum().backward();
  std::vector<at::Tensor> all = {result.detach()};
  for (const at::Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

// Kernels of fp32 against plain operations in double.
void ExpectSame(const Step& step, const Inputs& inputs) {
  const auto found = Differentiated(step, inputs, at::kFloat);
  const auto right = Differentiated(step, inputs, at::kDouble);
  for (size_t i = 0; i < right.size(); ++i) {
    EXPECT_LT((found[i].to(at::kDouble) - right[i]).abs().max().item<double>(),
              1e-5 * right[i].abs().max().item<double>())
        << i;
  }
}

// [B,H,T,W] from numbers with heads side by side, as projections have them.
at::Tensor State() { return at::randn({2, 5, 3, 8}, at::kDouble); }

TEST(UpdateTest, OneMapForAllTokensEqualsPlainOperations) {
  ExpectSame(
      [](const Inputs& x) {
        return AddMixed(x[0].transpose(1, 2), x[1].transpose(1, 2), x[2]);
      },
      {State(), State(), at::randn({3, 3}, at::kDouble)});
}

TEST(UpdateTest, AMapForEachTokenEqualsPlainOperations) {
  ExpectSame(
      [](const Inputs& x) {
        return AddMixedByToken(x[0].transpose(1, 2), {x[1], x[2]}, x[3]);
      },
      {State(), at::randn({7, 3}, at::kDouble), at::randn({3, 7}, at::kDouble),
       at::randn({2, 5, 7}, at::kDouble)});
}

TEST(UpdateTest, WhatIsNarrowStaysSoAndTheStateKeepsItsType) {
  const at::Tensor state =
      State().to(at::kFloat).transpose(1, 2).set_requires_grad(true);
  const at::Tensor x = State()
                           .to(at::kBFloat16)
                           .transpose(1, 2)
                           .detach()
                           .set_requires_grad(true);
  const at::Tensor mixed = AddMixed(state, x, at::randn({3, 3}));
  EXPECT_EQ(mixed.scalar_type(), at::kFloat);
  mixed.sum().backward();
  EXPECT_EQ(x.grad().scalar_type(), at::kBFloat16);
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

}  // namespace
}  // namespace ordo::kernels::torch
