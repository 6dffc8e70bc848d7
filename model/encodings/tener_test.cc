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

using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

constexpr int kHeads = 2, kTokens = 5, kWidth = 6, kHalf = 3;

// One head's query, key and learned vectors.
struct Pair {
  at::Tensor q;
  at::Tensor k;
  at::Tensor u;
  at::Tensor v;
};

// Equations 15 to 18, pair by pair.
double Slow(const Pair& pair, int distance) {
  const auto& [q, k, u, v] = pair;
  double score = 0.0;
  for (int c = 0; c < kWidth; ++c) {
    const double w = std::pow(10000.0, -double(c % kHalf) / (kHalf - 1));
    const double wave =
        c < kHalf ? std::sin(distance * w) : std::cos(distance * w);
    const double qc = q[c].item<double>(), kc = k[c].item<double>();
    score += qc * kc + qc * wave + u[c].item<double>() * kc +
             v[c].item<double>() * wave;
  }
  return score;
}

void Compare(const std::string& params, double scale, bool plain_keys) {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  shape.causal = false;
  Probe probe(FromText("{name: tener, params: {" + params + "}}"), shape);
  probe.Randomize();
  Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  attention.causal = false;
  const at::NoGradGuard no_grad;
  const at::Tensor u = probe.Parameter(
      "model.layers.0.self_attn.tener."
      "key_bias");
  const at::Tensor v = probe.Parameter(
      "model.layers.0.self_attn.tener."
      "distance_bias");
  const at::Tensor keys =
      plain_keys
          ? attention.hidden_BTC.unflatten(-1, {kHeads, kWidth}).transpose(1, 2)
          : attention.k_BHTD;
  const at::Tensor scores = probe.Scores(attention);
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kTokens; ++i) {
      for (int j = 0; j < kTokens; ++j) {
        EXPECT_NEAR(scores[0][h][i][j].item<double>(),
                    Slow({attention.q_BHTD[0][h][i], keys[0][h][j], u[h], v[h]},
                         i - j) *
                        scale,
                    1e-12)
            << h << i << j;
      }
    }
  }
}

TEST(TenerTest, EqualsTheFormulaPairByPair) { Compare("", 1.0, false); }

TEST(TenerTest, LogitsMayBeScaled) {
  Compare("scale: true", 1.0 / std::sqrt(6.0), false);
}

TEST(TenerTest, KeysMayBeTheInputItself) {
  Compare("project_keys: false", 1.0, true);
}

// Xavier's normal of a matrix [H,D]: variance 2 / (H + D).
TEST(TenerTest, VectorsStartAsXaviers) {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = 100;
  shape.width = 100 * 60;
  const Probe probe(FromText("{name: tener}"), shape);
  EXPECT_NEAR(probe.Parameter("model.layers.0.self_attn.tener.key_bias")
                  .std()
                  .item<double>(),
              std::sqrt(2.0 / 160), 0.005);
}

// What TENER is for: it tells before from after.
TEST(TenerTest, DirectionsDiffer) {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = 1;
  shape.width = kWidth;
  shape.causal = false;
  const Probe probe(FromText("{name: tener}"), shape);
  Attention attention = RandomAttention(1, 1, 3, kWidth);
  attention.k_BHTD = attention.k_BHTD * 0.0;
  const at::NoGradGuard no_grad;
  const at::Tensor scores = probe.Scores(attention);
  EXPECT_GT(std::abs((scores[0][0][1][0] - scores[0][0][1][2]).item<double>()),
            1e-3);
}

}  // namespace
}  // namespace ordo::model::encodings
