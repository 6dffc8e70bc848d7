#include "kernels/torch/attention.h"

#include <cmath>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/randn.h"
#include "ATen/ops/softmax.h"
#include "gtest/gtest.h"

namespace ordo::kernels::torch {
namespace {

constexpr int64_t kB = 2, kH = 4, kG = 2, kS = 21, kD = 8, kM = 6;

// Tensors as projections leave them: tokens before heads in memory.
at::Tensor Normal(int64_t heads, int64_t tokens, int64_t width) {
  return at::randn({kB, tokens, heads, width})
      .transpose(1, 2)
      .requires_grad_(true);
}

Attention Make(int64_t queries = kS) {
  Attention attention;
  attention.q_BHTD = Normal(kH, queries, kD);
  attention.k_BGSD = Normal(kG, kS, kD);
  attention.values = {Normal(kG, kS, kD), Normal(kH, kS, kM)};
  return attention;
}

at::Tensor ForEachHead(const at::Tensor& x) {
  return x.repeat_interleave(kH / x.size(1), 1);
}

// In plain operations; `hidden` is bool [B or 1,1,T,S], `bias` [1,H,T,S].
std::vector<at::Tensor> Plainly(const Attention& attention,
                                const at::Tensor& hidden,
                                const at::Tensor& bias = {}) {
  at::Tensor logits =
      at::matmul(attention.q_BHTD,
                 ForEachHead(attention.k_BGSD).transpose(2, 3)) /
      std::sqrt(static_cast<double>(kD));
  if (bias.defined()) logits = logits + bias;
  const at::Tensor weights = at::softmax(logits.masked_fill(hidden, -1e30), -1);
  std::vector<at::Tensor> mixed;
  for (const at::Tensor& value : attention.values) {
    mixed.push_back(at::matmul(weights, ForEachHead(value)));
  }
  return mixed;
}

at::Tensor Later(int64_t queries = kS) {
  return at::ones({1, 1, queries, kS}, at::kBool)
      .tril(kS - queries)
      .logical_not();
}

std::vector<at::Tensor> ByKernel(const Attention& attention) {
  const auto problem = ProblemOf(attention);
  EXPECT_TRUE(problem.ok()) << problem.status();
  const auto kernel = attention::Select(*problem, "");
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  return Attend(attention, *problem, **kernel);
}

// Gradients of `inputs` through both outputs with other factors.
std::vector<at::Tensor> Gradients(const std::vector<at::Tensor>& mixed,
                                  const std::vector<at::Tensor>& inputs) {
  for (const at::Tensor& x : inputs) x.mutable_grad() = at::Tensor();
  at::Tensor loss = mixed[0].sin().sum();
  for (size_t i = 1; i < mixed.size(); ++i) loss = loss + mixed[i].cos().sum();
  loss.backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& x : inputs) gradients.push_back(x.grad().clone());
  return gradients;
}

void ExpectNear(const std::vector<at::Tensor>& a,
                const std::vector<at::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].sizes(), b[i].sizes()) << i;
    EXPECT_LT((a[i] - b[i]).abs().max().item<double>(), 2e-5) << i;
  }
}

void ExpectSame(const Attention& attention, const at::Tensor& hidden,
                const at::Tensor& bias = {},
                const std::vector<at::Tensor>& parameters = {}) {
  std::vector<at::Tensor> inputs = {attention.q_BHTD, attention.k_BGSD};
  for (const at::Tensor& value : attention.values) inputs.push_back(value);
  // Leaves are what the transposed views are of.
  std::vector<at::Tensor> leaves = inputs;
  leaves.insert(leaves.end(), parameters.begin(), parameters.end());
  const auto found = ByKernel(attention);
  const auto right = Plainly(attention, hidden, bias);
  ExpectNear(found, right);
  ExpectNear(Gradients(found, leaves), Gradients(right, leaves));
}

TEST(AttentionTest, EqualsPlainOperationsWithGradients) {
  ExpectSame(Make(), Later());
}

TEST(AttentionTest, QueriesAreTheLastTokens) { ExpectSame(Make(5), Later(5)); }

TEST(AttentionTest, HidesPaddingAndWhatIsBeforeTheFirst) {
  Attention attention = Make();
  attention.real_BS = at::ones({kB, kS}, at::kBool);
  attention.real_BS[1].narrow(0, 0, 4).fill_(false);
  const at::Tensor token = at::arange(kS);
  const at::Tensor hidden = Later().logical_or(
      attention.real_BS.logical_not().unsqueeze(1).unsqueeze(1));
  // Queries that see no key are compared nowhere else.
  attention.q_BHTD = attention.q_BHTD.detach().requires_grad_(true);
  const auto found = ByKernel(attention);
  EXPECT_EQ(found[0][1].narrow(1, 0, 4).abs().max().item<double>(), 0.0);
  const auto right = Plainly(attention, hidden);
  EXPECT_LT(
      (found[0][1].narrow(1, 4, kS - 4) - right[0][1].narrow(1, 4, kS - 4))
          .abs()
          .max()
          .item<double>(),
      2e-5);
}

TEST(AttentionTest, ABiasGetsItsGradient) {
  Attention attention = Make();
  const at::Tensor table = at::randn({1, kH, 1, kS}).requires_grad_(true);
  attention.terms.inputs[attention::kBias] = table;
  attention.terms.reach = kS - 1;
  const at::Tensor place =
      (at::arange(kS).unsqueeze(0) - at::arange(kS).unsqueeze(1) + (kS - 1))
          .clamp_max(kS - 1);
  const at::Tensor bias = table.squeeze(0)
                              .squeeze(1)
                              .index({at::indexing::Slice(), place})
                              .unsqueeze(0);
  ExpectSame(attention, Later(), bias, {table});
}

TEST(AttentionTest, BothWaysWithoutCausality) {
  Attention attention = Make();
  attention.causal = false;
  ExpectSame(attention, at::zeros({1, 1, kS, kS}, at::kBool));
}

TEST(AttentionTest, OnlyWantedGradientsAreComputed) {
  Attention attention = Make();
  attention.k_BGSD = attention.k_BGSD.detach();
  ByKernel(attention)[1].sum().backward();
  EXPECT_TRUE(attention.q_BHTD.grad().defined());
  EXPECT_FALSE(attention.k_BGSD.grad().defined());
}

// Autocast leaves q wide where a weight in fp32 has met it.
TEST(AttentionTest, IsOfTheTypeOfWhatIsMixed) {
  Attention attention = Make();
  for (at::Tensor& value : attention.values) value = value.to(at::kBFloat16);
  const auto problem = ProblemOf(attention);
  ASSERT_TRUE(problem.ok()) << problem.status();
  EXPECT_EQ(problem->type, Type::kBfloat16);
  const std::vector<at::Tensor> mixed = ByKernel(attention);
  EXPECT_EQ(mixed[0].scalar_type(), at::kBFloat16);
  mixed[0].sum().backward();
  EXPECT_EQ(attention.q_BHTD.grad().scalar_type(), at::kFloat);
}

TEST(AttentionTest, OtherTypesHaveNoKernel) {
  Attention attention = Make();
  attention.values[0] = attention.values[0].to(at::kDouble);
  const auto problem = ProblemOf(attention);
  EXPECT_EQ(problem.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(problem.status().message(),
            "there is no attention kernel for Double on cpu");
  attention.values[0] = attention.values[0].to(at::kHalf);
  EXPECT_EQ(ProblemOf(attention).status().message(),
            "there is no attention kernel for Half on cpu");
}

}  // namespace
}  // namespace ordo::kernels::torch
