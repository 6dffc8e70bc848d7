#include "kernels/torch/loss.h"

#include <vector>

#include "ATen/Context.h"
#include "ATen/autocast_mode.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/randint.h"
#include "ATen/ops/randn.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

struct Answer {
  double loss = 0;
  at::Tensor d_x;
  at::Tensor d_head;
};

LossInputs Random(int64_t rows, int64_t width, int64_t vocabulary) {
  return {at::randn({rows, width}, at::kDouble),
          at::randn({vocabulary, width}, at::kDouble),
          at::randint(vocabulary, {rows}, at::kLong)};
}

Answer Differentiated(const LossInputs& inputs, c10::ScalarType type,
                      double factor) {
  const auto leaf = [&](const at::Tensor& x) {
    return x.to(type, false, /*copy=*/true).set_requires_grad(true);
  };
  const LossInputs leaves = {leaf(inputs.x_NC), leaf(inputs.head_VC),
                             inputs.targets_N};
  const at::Tensor loss = SumOfLosses(leaves, factor);
  (loss * 2).backward();
  return {loss.item<double>(), leaves.x_NC.grad(), leaves.head_VC.grad()};
}

void ExpectNear(const at::Tensor& found, const at::Tensor& right,
                double bound) {
  EXPECT_LT((found.to(at::kDouble) - right).abs().max().item<double>(),
            bound * right.abs().max().item<double>());
}

void ExpectNear(const Answer& found, const Answer& right, double bound) {
  EXPECT_NEAR(found.loss, right.loss, bound * right.loss);
  ExpectNear(found.d_x, right.d_x, bound);
  ExpectNear(found.d_head, right.d_head, bound);
}

TEST(LossTest, OneBlockEqualsPlainOperations) {
  const LossInputs inputs = Random(37, 12, 91);
  ExpectNear(Differentiated(inputs, at::kFloat, 0.25),
             Differentiated(inputs, at::kDouble, 0.25), 1e-5);
}

// 2^23 logits are in a block. The product of a thin matrix over so many words
// adds them up in few sums, in plain operations as well.
TEST(LossTest, SeveralBlocksEqualPlainOperations) {
  const LossInputs inputs = Random(70, 2, 130000);
  const Answer found = Differentiated(inputs, at::kFloat, 0.25);
  const Answer right = Differentiated(inputs, at::kDouble, 0.25);
  EXPECT_NEAR(found.loss, right.loss, 1e-6 * right.loss);
  ExpectNear(found.d_head, right.d_head, 1e-5);
  ExpectNear(found.d_x, right.d_x, 2e-3);
}

TEST(LossTest, UnderAutocastProductsAreNarrow) {
  const LossInputs inputs = Random(70, 2, 130000);
  const Answer right = Differentiated(inputs, at::kDouble, 1);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  const Answer found = Differentiated(inputs, at::kFloat, 1);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  ExpectNear(found, right, 0.02);
  EXPECT_EQ(found.d_head.scalar_type(), at::kFloat);
  EXPECT_GT((found.d_x.to(at::kDouble) - right.d_x).abs().max().item<double>(),
            1e-4 * right.d_x.abs().max().item<double>());
}

TEST(LossTest, WithoutGradientsTheLossIsTheSame) {
  const LossInputs inputs = Random(7, 3, 11);
  const Answer right = Differentiated(inputs, at::kDouble, 1);
  const at::NoGradGuard no_grad;
  const at::Tensor loss =
      SumOfLosses({inputs.x_NC.to(at::kFloat), inputs.head_VC.to(at::kFloat),
                   inputs.targets_N},
                  1);
  EXPECT_FALSE(loss.requires_grad());
  EXPECT_NEAR(loss.item<double>(), right.loss, 1e-5 * right.loss);
}

TEST(LossTest, ATargetBeyondTheVocabularyIsRefused) {
  LossInputs inputs = Random(2, 3, 4);
  inputs.x_NC = inputs.x_NC.to(at::kFloat);
  inputs.head_VC = inputs.head_VC.to(at::kFloat);
  inputs.targets_N[1] = 4;
  EXPECT_THAT([&] { SumOfLosses(inputs, 1); },
              ::testing::ThrowsMessage<c10::Error>(
                  ::testing::HasSubstr("targets are numbers of rows")));
}

}  // namespace
}  // namespace ordo::kernels::torch
