#include <algorithm>
#include <cmath>

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

constexpr int kHeads = 2, kTokens = 6, kWidth = 4;

std::unique_ptr<Probe> Make() {
  ModelShape shape;
  shape.layers = 2;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  return std::make_unique<Probe>(FromText("{name: da_transformer}"), shape);
}

TEST(DaTransformerTest, EqualsTheFormulaPairByPair) {
  const auto probe = Make();
  probe->Randomize();
  Attention attention = RandomAttention(2, kHeads, kTokens, kWidth);
  attention.causal = false;
  attention.layer = 1;
  const at::NoGradGuard no_grad;
  const auto number = [&](const char* name, int h) {
    return probe
        ->Parameter(std::string("model.layers.1.self_attn.da.") + name)[h]
        .item<double>();
  };
  const at::Tensor scores = probe->Scores(attention);
  for (int h = 0; h < kHeads; ++h) {
    const double v = number("offset", h), w = number("slope", h);
    for (int i = 0; i < kTokens; ++i) {
      for (int j = 0; j < kTokens; ++j) {
        const double product =
            (attention.q_BHTD[1][h][i] * attention.k_BHTD[1][h][j])
                .sum()
                .item<double>();
        const double scale =
            (1.0 + std::exp(v)) / (1.0 + std::exp(v - w * std::abs(i - j)));
        EXPECT_NEAR(scores[1][h][i][j].item<double>(),
                    std::max(product, 0.0) * scale / 2.0, 1e-13);
      }
    }
  }
}

// e^(v - w d) is beyond fp64, its share is not.
TEST(DaTransformerTest, SteepSlopesStayFinite) {
  const auto probe = Make();
  Attention attention = RandomAttention(1, kHeads, 3, kWidth);
  attention.positions_BT = model::testing::Longs({1, 3}, {0, 9, 100000});
  const at::NoGradGuard no_grad;
  for (const double slope : {-3.0, 3.0}) {
    probe->Parameter("model.layers.0.self_attn.da.slope").fill_(slope);
    EXPECT_TRUE(probe->Scores(attention).isfinite().all().item<bool>());
  }
}

TEST(DaTransformerTest, ParametersStartNearZero) {
  const auto probe = Make();
  EXPECT_EQ(probe->parameters().all().size(), 4u);
  for (const auto& parameter : probe->parameters().all()) {
    EXPECT_EQ(parameter.tensor.numel(), kHeads);
    EXPECT_LT(parameter.tensor.abs().max().item<double>(), 0.6);
    EXPECT_GT(parameter.tensor.abs().max().item<double>(), 0.0);
  }
}

}  // namespace
}  // namespace ordo::model::encodings
