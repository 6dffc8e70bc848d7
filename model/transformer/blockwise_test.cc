#include "model/transformer/blockwise.h"

#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/autocast_mode.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/full.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/ones.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::GradientError;
using testing::MaxDifference;
using testing::Normals;

constexpr int64_t kB = 2, kH = 3, kT = 7, kD = 4;

// Of seven queries, causally.
std::vector<Block> Blocks() {
  return {{0, 3, 0, 3}, {3, 3, 0, 6}, {6, 1, 0, 7}};
}

// Two outputs of queries, keys, something shared and a parameter.
using Tensors = std::vector<at::Tensor>;
Tensors Function(const Block& block, const Tensors& parts,
                 const at::Tensor& parameter) {
  const at::Tensor weights = (at::matmul(parts[0], parts[1].transpose(2, 3)))
                                 .tril(block.num_keys - block.num_queries)
                                 .sin();
  return {at::matmul(weights, parts[1] * parts[2]),
          at::linear(parts[0] * parts[2], parameter)};
}

Tensors OfBlocks(const std::vector<Block>& blocks, const Tensors& inputs) {
  BlockwiseInput input;
  input.blocks = blocks;
  input.tensors = {inputs[0], inputs[1], inputs[2]};
  input.axes = {Axis::kQueries, Axis::kKeys, Axis::kShared};
  input.parameters = {inputs[3]};
  input.function = [parameter = inputs[3]](const Block& block,
                                           const Tensors& parts) {
    return Function(block, parts, parameter);
  };
  return InBlocks(std::move(input));
}

Tensors Inputs() {
  return {Normals({kB, kH, kT, kD}, "queries"),
          Normals({kB, kH, kT, kD}, "keys"), Normals({kH, 1, kD}, "shared"),
          Normals({5, kD}, "parameter")};
}

TEST(BlockwiseTest, GivesWhatTheFunctionGivesOfAll) {
  const Tensors inputs = Inputs();
  const Tensors blocks = OfBlocks(Blocks(), inputs);
  const Tensors all = Function({0, kT, 0, kT}, inputs, inputs[3]);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_LT(MaxDifference(blocks[0], all[0]), 1e-13);
  EXPECT_LT(MaxDifference(blocks[1], all[1]), 1e-13);
}

TEST(BlockwiseTest, GradientsEqualFiniteDifferences) {
  const at::Tensor first = Normals({kB, kH, kT, kD}, "first");
  const at::Tensor second = Normals({kB, kH, kT, 5}, "second");
  const auto number = [&](const Tensors& inputs) {
    const Tensors outputs = OfBlocks(Blocks(), inputs);
    return (outputs[0] * first).sum() + (outputs[1] * second).sum();
  };
  EXPECT_LT(GradientError(number, Inputs()), 1e-8);
  // An output that nobody reads, and inputs that want none.
  const auto of_one = [&](const Tensors& keys) {
    Tensors inputs = Inputs();
    inputs[1] = keys[0];
    return (OfBlocks(Blocks(), inputs)[0] * first).sum();
  };
  EXPECT_LT(GradientError(of_one, {Inputs()[1]}), 1e-8);
}

// 257 is no number of bf16; the even neighbour is 256.
TEST(BlockwiseTest, CastsAreThoseOfTheForwardPass) {
  const at::Tensor x = at::full({1, 1, 2, 1}, 257.0, at::kFloat);
  const at::Tensor weight = at::ones({1, 1}, at::kFloat).requires_grad_();
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::increment_nesting();
  BlockwiseInput input;
  input.blocks = {{0, 1, 0, 2}, {1, 1, 0, 2}};
  input.tensors = {x};
  input.axes = {Axis::kQueries};
  input.parameters = {weight};
  input.function = [weight](const Block&, const Tensors& parts) {
    return Tensors{at::linear(parts[0], weight)};
  };
  const at::Tensor blocks = InBlocks(std::move(input))[0];
  // What else is made of the weight has its gradient too.
  const at::Tensor beside = at::linear(x, weight);
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
  EXPECT_EQ(blocks.scalar_type(), at::kBFloat16);
  blocks.sum().backward();
  EXPECT_EQ(weight.grad().item<float>(), 512);
  beside.sum().backward();
  EXPECT_EQ(weight.grad().item<float>(), 1024);
  // Nothing is left of the weight as it was in the backward pass.
  const at::NoGradGuard no_grad;
  weight.fill_(2);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  EXPECT_EQ(at::linear(x, weight).sum().item<float>(), 1024);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

// 256 and 1 are 256 in bf16.
TEST(BlockwiseTest, GradientsOfManyBlocksAddUpInSinglePrecision) {
  constexpr int64_t kMany = 300;
  const at::Tensor shared =
      at::ones({1, 1, 1, 1}, at::kBFloat16).requires_grad_();
  BlockwiseInput input;
  for (int64_t i = 0; i < kMany; ++i) input.blocks.push_back({i, 1, 0, kMany});
  input.tensors = {at::ones({1, 1, kMany, 1}, at::kBFloat16), shared};
  input.axes = {Axis::kQueries, Axis::kShared};
  input.function = [](const Block&, const Tensors& parts) {
    return Tensors{parts[0] * parts[1]};
  };
  InBlocks(std::move(input))[0].sum().backward();
  EXPECT_EQ(shared.grad().scalar_type(), at::kBFloat16);
  EXPECT_EQ(shared.grad().item<float>(), kMany);
}

}  // namespace
}  // namespace ordo::model::transformer
