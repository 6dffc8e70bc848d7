#include <algorithm>
#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::MaxDifference;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

constexpr int kHeads = 2, kTokens = 6, kWidth = 4, kDistance = 3;

ModelShape Shape() {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  shape.causal = false;
  return shape;
}

std::unique_ptr<Probe> Make(int method) {
  return std::make_unique<Probe>(
      FromText("{name: huang" + std::to_string(method) +
               ", params: {max_distance: " + std::to_string(kDistance) + "}}"),
      Shape());
}

double Sum(const at::Tensor& x) { return x.sum().item<double>(); }

// A query and a key.
struct Pair {
  at::Tensor q;
  at::Tensor k;
  int distance = 0;
};

// One logit times sqrt(D), from the paper's formulas.
double Slow(int method, const Pair& pair, const at::Tensor& table) {
  const auto& [q, k, distance] = pair;
  const int last = kDistance - 1;
  const int clipped = std::min(std::max(distance, -last), last);
  switch (method) {
    case 1:
      return Sum(q * k) * table[std::abs(clipped)].item<double>();
    case 2:
      return Sum(q * k) * table[clipped + last].item<double>();
    case 3:
      return Sum(q * k * table[clipped + last]);
    default:
      return Sum(q * k) + Sum(q * table[clipped + last]) +
             Sum(k * table[clipped + last]);
  }
}

TEST(HuangTest, EachMethodEqualsItsFormulaPairByPair) {
  for (int method = 1; method <= 4; ++method) {
    const auto probe = Make(method);
    probe->Randomize();
    Attention attention = RandomAttention(2, kHeads, kTokens, kWidth);
    attention.causal = false;
    const at::NoGradGuard no_grad;
    const at::Tensor table =
        probe->Parameter("model.layers.0.self_attn.huang.distance.weight");
    const at::Tensor scores = probe->Scores(attention);
    for (int i = 0; i < kTokens; ++i) {
      for (int j = 0; j < kTokens; ++j) {
        EXPECT_NEAR(
            scores[1][1][i][j].item<double>() * 2.0,
            Slow(method,
                 {attention.q_BHTD[1][1][i], attention.k_BHTD[1][1][j], i - j},
                 table),
            1e-13)
            << method << " " << i << " " << j;
      }
    }
  }
}

TEST(HuangTest, TheFirstThreeStartAsPlainAttention) {
  Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  attention.causal = false;
  const at::Tensor plain = ScaledProduct(attention.q_BHTD, attention.k_BHTD);
  for (int method = 1; method <= 3; ++method) {
    EXPECT_LT(MaxDifference(Make(method)->Scores(attention), plain), 1e-14)
        << method;
  }
  EXPECT_GT(MaxDifference(Make(4)->Scores(attention), plain), 1e-3);
}

}  // namespace
}  // namespace ordo::model::encodings
