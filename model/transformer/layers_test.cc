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
  EXPECT_LT(
      MaxDifference(LayerNorm(Doubles({2}, {1, 3}), Doubles({2}, {2, 2}), 0.0),
                    Doubles({2}, {-2, 2})),
      1e-15);
}

TEST(LayersTest, TheGatedMlpMultipliesBySilu) {
  MlpWeights weights;
  weights.gate = Doubles({1, 1}, {2});
  weights.up = Doubles({1, 1}, {3});
  weights.down = Doubles({1, 1}, {5});
  const double silu = 2.0 / (1.0 + std::exp(-2.0));
  EXPECT_LT(MaxDifference(Mlp(Doubles({1, 1}, {1}), weights),
                          Doubles({1, 1}, {5 * silu * 3})),
            1e-14);
}

TEST(LayersTest, WithoutGateTheMlpIsExactGelu) {
  MlpWeights weights;
  weights.up = Doubles({1, 1}, {1});
  weights.down = Doubles({1, 1}, {1});
  const double gelu = 0.7 * 0.5 * (1.0 + std::erf(0.7 / std::sqrt(2.0)));
  EXPECT_LT(MaxDifference(Mlp(Doubles({1, 1}, {0.7}), weights),
                          Doubles({1, 1}, {gelu})),
            1e-15);
}

TEST(LayersTest, GradientsAreRight) {
  const auto norm = [](const std::vector<at::Tensor>& in) {
    return (RmsNorm(in[0], in[1], 1e-5) * in[2]).sum();
  };
  EXPECT_LT(GradientError(norm, {Normals({2, 4}, "x"), Normals({4}, "w"),
                                 Normals({2, 4}, "g")}),
            1e-7);
  const auto mlp = [](const std::vector<at::Tensor>& in) {
    return (Mlp(in[0], {in[1], in[2], in[3]}) * in[4]).sum();
  };
  EXPECT_LT(GradientError(mlp, {Normals({2, 4}, "x"), Normals({3, 4}, "g"),
                                Normals({3, 4}, "u"), Normals({4, 3}, "d"),
                                Normals({2, 4}, "r")}),
            1e-7);
}

}  // namespace
}  // namespace ordo::model::transformer
