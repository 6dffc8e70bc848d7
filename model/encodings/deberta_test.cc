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

using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

constexpr int kHeads = 2, kTokens = 6, kWidth = 4, kDistance = 2;

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum().item<double>();
}

int Row(int distance) {
  return std::min(std::max(distance + kDistance, 0), 2 * kDistance - 1);
}

TEST(DebertaTest, EqualsTheFormulaPairByPair) {
  ModelShape shape;
  shape.layers = 2;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  shape.causal = false;
  for (const std::string index : {"code", "paper"}) {
    Probe probe(FromText("{name: deberta, params: {max_distance: 2, index: " +
                         index + "}}"),
                shape);
    probe.Randomize();
    Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
    attention.causal = false;
    attention.layer = 1;
    const at::NoGradGuard no_grad;
    const std::string scope = "model.layers.1.self_attn.deberta.";
    const at::Tensor table = probe.Parameter("model.deberta.positions.weight");
    const at::Tensor key =
        table.matmul(probe.Parameter(scope + "key_proj.weight").t());
    const at::Tensor query =
        table.matmul(probe.Parameter(scope + "query_proj.weight").t()) +
        probe.Parameter(scope + "query_proj.bias");
    const at::Tensor scores = probe.Scores(attention);
    for (int h = 0; h < kHeads; ++h) {
      const auto head = [&](const at::Tensor& x, int row) {
        return x[row].narrow(0, h * kWidth, kWidth);
      };
      for (int i = 0; i < kTokens; ++i) {
        for (int j = 0; j < kTokens; ++j) {
          const at::Tensor q = attention.q_BHTD[0][h][i];
          const at::Tensor k = attention.k_BHTD[0][h][j];
          const int back = index == "paper" ? Row(j - i) : Row(i - j);
          const double expected = Dot(q, k) + Dot(q, head(key, Row(i - j))) +
                                  Dot(k, head(query, back));
          EXPECT_NEAR(scores[0][h][i][j].item<double>(),
                      expected / std::sqrt(3.0 * kWidth), 1e-12)
              << index << h << i << j;
        }
      }
    }
  }
}

TEST(DebertaTest, OnlyTheQueryProjectionHasABias) {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = 1;
  shape.width = 4;
  const Probe probe(FromText("{name: deberta}"), shape);
  EXPECT_EQ(probe.Parameter("model.layers.0.self_attn.deberta.query_proj.bias")
                .abs()
                .max()
                .item<double>(),
            0.0);
  EXPECT_FALSE(probe.parameters()
                   .Find("model.layers.0.self_attn.deberta.key_proj.bias")
                   .defined());
}

}  // namespace
}  // namespace ordo::model::encodings
