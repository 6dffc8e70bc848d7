#include <algorithm>
#include <cmath>
#include <string>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using model::testing::MaxDifference;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

constexpr int kHeads = 2, kTokens = 6, kWidth = 4;

ModelShape Shape(bool causal = true) {
  ModelShape shape;
  shape.layers = 2;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  shape.causal = causal;
  return shape;
}

// The row of a distance, or -1 for none.
struct Rows {
  int max_distance = 2;
  bool causal = true;
  bool drops = false;

  int Of(int distance) const {
    if (drops && std::abs(distance) > max_distance) return -1;
    const int clipped =
        std::min(std::max(distance, -max_distance), max_distance);
    return causal ? std::max(clipped, 0) : clipped + max_distance;
  }
};

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum().item<double>();
}

// Equation 3 before softmax, pair by pair.
at::Tensor Slow(const Attention& attention, const at::Tensor& table,
                const Rows& rows) {
  at::Tensor scores = at::zeros({1, kHeads, kTokens, kTokens}, at::kDouble);
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kTokens; ++i) {
      for (int j = 0; j < kTokens; ++j) {
        at::Tensor key = attention.k_BHTD[0][h][j];
        const int row = rows.Of(i - j);
        if (row >= 0) key = key + table[row];
        scores[0][h][i][j] =
            Dot(attention.q_BHTD[0][h][i], key) / std::sqrt(double{kWidth});
      }
    }
  }
  return scores;
}

TEST(ShawTest, AVectorOfTheDistanceIsAddedToTheKey) {
  for (const bool causal : {true, false}) {
    for (const char* unseen : {"last", "none"}) {
      Probe probe(FromText("{name: shaw, params: {max_distance: 2, unseen: " +
                           std::string(unseen) + "}}"),
                  Shape(causal));
      probe.Randomize();
      Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
      attention.causal = causal;
      const at::NoGradGuard no_grad;
      at::Tensor scores = probe.Scores(attention);
      at::Tensor expected =
          Slow(attention,
               probe.Parameter("model.layers.0.self_attn.shaw.key.weight"),
               {2, causal, std::string(unseen) == "none"});
      if (causal) {
        scores = scores.tril();
        expected = expected.tril();
      }
      EXPECT_LT(MaxDifference(scores, expected), 1e-13) << causal << unseen;
    }
  }
}

TEST(ShawTest, AVectorOfTheDistanceIsAddedToTheValue) {
  for (const char* unseen : {"last", "none"}) {
    Probe probe(FromText("{name: shaw, params: {max_distance: 2, values: true, "
                         "unseen: " +
                         std::string(unseen) + "}}"),
                Shape());
    probe.Randomize();
    const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
    const at::NoGradGuard no_grad;
    const Rows rows{2, true, std::string(unseen) == "none"};
    const at::Tensor table =
        probe.Parameter("model.layers.0.self_attn.shaw.value.weight");
    const at::Tensor scores =
        Slow(attention,
             probe.Parameter("model.layers.0.self_attn.shaw.key.weight"), rows);
    const at::Tensor attended = probe.Attended(attention);
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < kTokens; ++i) {
        const at::Tensor weights =
            scores[0][h][i].narrow(0, 0, i + 1).softmax(-1);
        at::Tensor expected = at::zeros({kWidth}, at::kDouble);
        for (int j = 0; j <= i; ++j) {
          at::Tensor value = attention.v_BHTD[0][h][j];
          if (rows.Of(i - j) >= 0) value = value + table[rows.Of(i - j)];
          expected = expected + value * weights[j];
        }
        EXPECT_LT(MaxDifference(attended[0][h][i], expected), 1e-13);
      }
    }
  }
}

TEST(ShawTest, DistancesAreThoseOfPositionIdsInEveryLayersOwnTable) {
  Probe probe(FromText("{name: shaw, params: {max_distance: 9}}"), Shape());
  probe.Randomize();
  Attention attention = RandomAttention(1, kHeads, 3, kWidth);
  attention.positions_BT = Longs({1, 3}, {4, 6, 13});
  attention.layer = 1;
  const at::NoGradGuard no_grad;
  const at::Tensor added = (probe.Scores(attention) -
                            ScaledProduct(attention.q_BHTD, attention.k_BHTD)) *
                           2.0;
  const at::Tensor table =
      probe.Parameter("model.layers.1.self_attn.shaw.key.weight");
  EXPECT_NEAR(added[0][1][2][0].item<double>(),
              Dot(attention.q_BHTD[0][1][2], table[9]), 1e-13);
  EXPECT_NEAR(added[0][1][2][1].item<double>(),
              Dot(attention.q_BHTD[0][1][2], table[7]), 1e-13);
}

TEST(ShawTest, LayersMayShareOneTable) {
  const Probe apart(FromText("{name: shaw}"), Shape());
  const Probe shared(FromText("{name: shaw, params: {share: model}}"), Shape());
  EXPECT_EQ(apart.parameters().all().size(), 2u);
  ASSERT_EQ(shared.parameters().all().size(), 1u);
  EXPECT_EQ(shared.parameters().all()[0].name, "model.shaw.key.weight");
}

// The paper's initialisation: a variance of 1 / D.
TEST(ShawTest, VectorsStartAtTheScaleOfTheHead) {
  const Probe probe(FromText("{name: shaw, params: {max_distance: 5000}}"),
                    Shape());
  EXPECT_NEAR(probe.parameters().all()[0].tensor.std().item<double>(), 0.5,
              0.01);
}

}  // namespace
}  // namespace ordo::model::encodings
