#include "model/transformer/layers.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::Doubles;
using testing::GradientError;
using testing::MaxDifference;
using testing::Normals;

TEST(LayersTest, RmsNormDividesByTheRootMeanSquare) {
  // Mean square of (3, 4) is 12.5.
  const double scale = 1.0 / std::sqrt(12.5 + 0.5);
  EXPECT_LT(
      MaxDifference(RmsNorm(Doubles({2}, {3, 4}), Doubles({2}, {1, 2}), 0.5),
                    Doubles({2}, {3 * scale, 8 * scale})),
      1e-15);
}

TEST(LayersTest, RmsNormOfHalfPrecisionIsComputedInSingle) {
  // 300^2 overflows fp16.
  const at::Tensor x = Doubles({2}, {300, 300}).to(at::kHalf);
  const at::Tensor one = Doubles({2}, {1, 1}).to(at::kHalf);
  EXPECT_EQ(MaxDifference(RmsNorm(x, one, 0.0), one), 0.0);
}

TEST(LayersTest, LayerNormTakesTheMeanAway) {
  // (1, 3): mean 2, variance 1.
  EXPECT_LT(MaxDifference(LayerNorm(Doubles({2}, {1, 3}),
                                    {Doubles({2}, {2, 2}), {}}, 0.0),
                          Doubles({2}, {-2, 2})),
            1e-15);
}

TEST(LayersTest, LayerNormAddsItsBias) {
  const NormWeights weights = {Doubles({2}, {2, 2}), Doubles({2}, {10, 20})};
  EXPECT_LT(MaxDifference(LayerNorm(Doubles({2}, {1, 3}), weights, 0.0),
                          Doubles({2}, {8, 22})),
            1e-14);
}

TEST(LayersTest, TheGatedMlpMultipliesBySilu) {
  MlpWeights weights;
  weights.gate.weight = Doubles({1, 1}, {2});
  weights.up.weight = Doubles({1, 1}, {3});
  weights.down.weight = Doubles({1, 1}, {5});
  const double silu = 2.0 / (1.0 + std::exp(-2.0));
  EXPECT_LT(
      MaxDifference(Mlp(Doubles({1, 1}, {1}), weights, Activation::kSwiglu),
                    Doubles({1, 1}, {5 * silu * 3})),
      1e-14);
}

TEST(LayersTest, TheMlpMayBeGatedByGelu) {
  MlpWeights weights;
  weights.gate.weight = Doubles({1, 1}, {2});
  weights.up.weight = Doubles({1, 1}, {3});
  weights.down.weight = Doubles({1, 1}, {5});
  const double gelu = 1.0 + std::erf(2.0 / std::sqrt(2.0));
  EXPECT_LT(
      MaxDifference(Mlp(Doubles({1, 1}, {1}), weights, Activation::kGeglu),
                    Doubles({1, 1}, {5 * gelu * 3})),
      1e-13);
}

TEST(LayersTest, WithoutGateTheMlpAppliesItsActivation) {
  MlpWeights weights;
  weights.up.weight = Doubles({1, 1}, {1});
  weights.down.weight = Doubles({1, 1}, {1});
  const double x = 1.7;
  const auto expect = [&](Activation activation, double value, double at) {
    EXPECT_LT(MaxDifference(Mlp(Doubles({1, 1}, {at}), weights, activation),
                            Doubles({1, 1}, {value})),
              1e-15);
  };
  const double gelu = x * 0.5 * (1.0 + std::erf(x / std::sqrt(2.0)));
  const double inner = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  expect(Activation::kGelu, gelu, x);
  expect(Activation::kGeluTanh, 0.5 * x * (1.0 + std::tanh(inner)), x);
  expect(Activation::kRelu, x, x);
  expect(Activation::kRelu, 0.0, -x);
}

TEST(LayersTest, TheMlpAddsItsBiases) {
  MlpWeights weights;
  weights.gate = {Doubles({1, 1}, {2}), Doubles({1}, {-2})};
  weights.up = {Doubles({1, 1}, {3}), Doubles({1}, {7})};
  weights.down = {Doubles({1, 1}, {5}), Doubles({1}, {11})};
  // The gate is silu(0) = 0.
  EXPECT_EQ(
      MaxDifference(Mlp(Doubles({1, 1}, {1}), weights, Activation::kSwiglu),
                    Doubles({1, 1}, {11})),
      0.0);
  weights.gate = {};
  EXPECT_EQ(MaxDifference(Mlp(Doubles({1, 1}, {1}), weights, Activation::kRelu),
                          Doubles({1, 1}, {61})),
            0.0);
}

TEST(LayersTest, GradientsAreRight) {
  const auto norm = [](const std::vector<at::Tensor>& in) {
    return (RmsNorm(in[0], in[1], 1e-5) * in[2]).sum();
  };
  EXPECT_LT(GradientError(norm, {Normals({2, 4}, "x"), Normals({4}, "w"),
                                 Normals({2, 4}, "g")}),
            1e-7);
  for (const Activation activation :
       {Activation::kSwiglu, Activation::kGeglu}) {
    const auto mlp = [&](const std::vector<at::Tensor>& in) {
      const MlpWeights weights = {{in[1], {}}, {in[2], {}}, {in[3], {}}};
      return (Mlp(in[0], weights, activation) * in[4]).sum();
    };
    EXPECT_LT(GradientError(mlp, {Normals({2, 4}, "x"), Normals({3, 4}, "g"),
                                  Normals({3, 4}, "u"), Normals({4, 3}, "d"),
                                  Normals({2, 4}, "r")}),
              1e-7);
  }
}

}  // namespace
}  // namespace ordo::model::transformer
