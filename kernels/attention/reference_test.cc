#include "kernels/attention/reference.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "kernels/attention/testing/case.h"

namespace ordo::kernels::attention {
namespace {

Problem Small() {
  Problem p;
  p.batch = 2;
  p.heads = 4;
  p.key_heads = 2;
  p.queries = 3;
  p.keys = 5;
  p.width = 3;
  p.num_values = 2;
  p.values[0] = {3, 2};
  p.values[1] = {2, 4};
  p.scale = 0.5;
  p.biased = true;
  return p;
}

// What the gradients are of: sum over all that is mixed of d_mixed times it.
double Loss(const Problem& problem, Tensors* x) {
  ReferenceForward(problem, x);
  double loss = 0;
  for (int v = 0; v < problem.num_values; ++v) {
    for (size_t i = 0; i < x->mixed[v].size(); ++i) {
      loss += x->mixed[v][i] * x->d_mixed[v][i];
    }
  }
  return loss;
}

// Central differences of the loss by each element of `input`.
void ExpectGradient(const Problem& problem, const std::vector<double>& gradient,
                    Tensors* x, std::vector<double>* input) {
  constexpr double kStep = 1e-5;
  ASSERT_EQ(gradient.size(), input->size());
  for (size_t i = 0; i < input->size(); ++i) {
    const double at = (*input)[i];
    (*input)[i] = at + kStep;
    const double above = Loss(problem, x);
    (*input)[i] = at - kStep;
    const double below = Loss(problem, x);
    (*input)[i] = at;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-8) << i;
  }
}

void ExpectGradients(const Problem& problem) {
  Tensors x = testing::MakeTensors(problem, 7);
  ReferenceForward(problem, &x);
  ReferenceBackward(problem, &x);
  const Tensors found = x;
  ExpectGradient(problem, found.dq_BHTD, &x, &x.q_BHTD);
  ExpectGradient(problem, found.dk_BGSD, &x, &x.k_BGSD);
  for (int v = 0; v < problem.num_values; ++v) {
    ExpectGradient(problem, found.d_values[v], &x, &x.values[v]);
  }
  ExpectGradient(problem, found.d_bias_HL, &x, &x.bias_HL);
}

TEST(ReferenceTest, GradientsAreThoseOfFiniteDifferences) {
  ExpectGradients(Small());
}

TEST(ReferenceTest, GradientsBothWaysAndWithPaddingToo) {
  Problem problem = Small();
  problem.causal = false;
  problem.padded = true;
  problem.batch = 3;
  ExpectGradients(problem);
}

// Two keys with logits ln 1 and ln 3, by the bias: weights 1/4 and 3/4.
TEST(ReferenceTest, WeightsAreTheSoftmaxOfTheLogits) {
  Problem problem;
  problem.batch = problem.heads = problem.key_heads = 1;
  problem.queries = 1;
  problem.keys = 2;
  problem.width = 1;
  problem.values[0] = {1, 1};
  problem.biased = true;
  Tensors x;
  x.q_BHTD = {2};
  x.k_BGSD = {0.25, 0.5};
  x.values[0] = {10, 20};
  // Of the key before the query, and of its own.
  x.bias_HL = {std::log(1.0) - 0.5, std::log(3.0) - 1};
  ReferenceForward(problem, &x);
  EXPECT_NEAR(x.mixed[0][0], 17.5, 1e-12);
  EXPECT_NEAR(x.lse_BHT[0], std::log(4.0), 1e-12);
}

TEST(ReferenceTest, AQueryThatSeesNoKeyGetsZeros) {
  Problem problem = Small();
  problem.padded = true;
  Tensors x = testing::MakeTensors(problem, 8);
  x.real_BS.assign(x.real_BS.size(), 0);
  ReferenceForward(problem, &x);
  ReferenceBackward(problem, &x);
  for (const double value : x.mixed[0]) EXPECT_EQ(value, 0);
  for (const double value : x.dk_BGSD) EXPECT_EQ(value, 0);
  EXPECT_EQ(x.lse_BHT[0], std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ordo::kernels::attention
