#include <cmath>

#include "ATen/core/grad_mode.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using testing::FromText;
using testing::NoProduct;
using testing::Probe;

constexpr int kHeads = 2, kWidth = 4, kInner = 3;
constexpr double kLength = 10.0;
constexpr int kPositions[] = {0, 4, 9, 30, 31};

ModelShape Shape() { return {2, kHeads * kWidth, kHeads}; }

double Psi(double c, double x) { return std::log(std::abs(c * x) + 1.0); }

// The bias of layer 1 in plain loops.
double Formula(const Probe& probe, int head, int i, int j) {
  const auto value = [&](const std::string& name, int row, int column = 0) {
    const at::Tensor tensor =
        probe.Parameter("model.layers.1.self_attn.fire." + name);
    return (tensor.dim() == 1 ? tensor[row] : tensor[row][column])
        .item<double>();
  };
  const double c = value("c", 0);
  const double least = std::abs(value("l", 0) * kLength);
  const double ratio =
      Psi(c, kPositions[i] - kPositions[j]) /
      (Psi(c, std::max(static_cast<double>(kPositions[i]), least)) + 1e-6);
  double bias = value("out_proj.bias", head);
  for (int m = 0; m < kInner; ++m) {
    const double inner =
        value("in_proj.weight", m) * ratio + value("in_proj.bias", m);
    bias += value("out_proj.weight", head, m) * std::max(inner, 0.0);
  }
  return bias;
}

TEST(FireTest, TheBiasIsThePapers) {
  Probe probe(FromText("{name: fire, params: {mlp_width: 3, length: 10}}"),
              Shape());
  probe.Randomize();
  testing::Attention attention =
      NoProduct(Longs({1, 5}, {0, 4, 9, 30, 31}), kHeads, kWidth);
  attention.layer = 1;
  const at::NoGradGuard no_grad;
  // Training may turn c's sign.
  for (const double c : {0.7, -0.7}) {
    probe.Parameter("model.layers.1.self_attn.fire.c").fill_(c);
    const at::Tensor bias = probe.Scores(attention);
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 5; ++j) {
          EXPECT_NEAR(bias[0][h][i][j].item<double>(), Formula(probe, h, i, j),
                      1e-13)
              << c << " " << h << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(FireTest, StartsAndCountsAsInThePaper) {
  const Probe probe(FromText("{name: fire}"), {1, 24, 12});
  // The paper's 463 hold the constant 512 too.
  EXPECT_EQ(probe.parameters().NumValues(), 462);
  const std::string prefix = "model.layers.0.self_attn.fire.";
  EXPECT_EQ(probe.Parameter(prefix + "c").item<double>(), 0.1);
  EXPECT_EQ(probe.Parameter(prefix + "l").item<double>(), 1.0);
  const auto reach = [&](const std::string& name) {
    return probe.Parameter(prefix + name).abs().max().item<double>();
  };
  EXPECT_LE(reach("in_proj.weight"), 1.0);
  EXPECT_GT(reach("in_proj.weight"), 0.8);
  EXPECT_LE(reach("out_proj.weight"), 1.0 / std::sqrt(32.0));
  EXPECT_GT(reach("out_proj.weight"), 0.9 / std::sqrt(32.0));
  EXPECT_LT(probe.Parameter(prefix + "out_proj.weight").min().item<double>(),
            -0.9 / std::sqrt(32.0));
}

TEST(FireTest, UpToTheLengthABiasDependsOnTheDistanceOnly) {
  Probe probe(FromText("{name: fire, params: {length: 100}}"), Shape());
  const auto bias = [&](int64_t key, int64_t query) {
    return probe
        .Scores(
            NoProduct(Longs({1, 2}, {key, query}), kHeads, kWidth))[0][0][1][0]
        .item<double>();
  };
  EXPECT_EQ(bias(3, 7), bias(90, 94));
  EXPECT_NE(bias(3, 7), bias(390, 394));
  // Past it, equal shares of the whole have nearly equal biases.
  EXPECT_NEAR(bias(0, 100000), bias(0, 200), 1e-5);
}

}  // namespace
}  // namespace ordo::model::encodings
