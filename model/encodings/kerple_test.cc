#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Doubles;
using model::testing::Longs;
using model::testing::MaxDifference;
using testing::FromText;
using testing::NoProduct;
using testing::Probe;

constexpr int kHeads = 4, kWidth = 2;

ModelShape Shape(int layers = 1) { return {layers, kHeads * kWidth, kHeads}; }

void Set(const Probe& probe, const std::string& name,
         const std::vector<double>& values) {
  const at::NoGradGuard no_grad;
  probe.Parameter(name).copy_(Doubles({kHeads}, values));
}

// Over positions 0, 2, 3, 40.
at::Tensor Biases(const Probe& probe) {
  return probe.Scores(NoProduct(Longs({1, 4}, {0, 2, 3, 40}), kHeads, kWidth));
}

constexpr double kPositions[] = {0, 2, 3, 40};
// Two of them outside of their bounds.
const std::vector<double> kR1 = {0.5, 1.75, -3.0, 0.2};
const std::vector<double> kR2 = {0.3, 1.0, 1.9, 5.0};

TEST(KerpleTest, TheLogarithmicKernelIsThePapers) {
  const Probe probe(FromText("{name: kerple_log}"), Shape());
  Set(probe, "model.kerple_log.r1", kR1);
  Set(probe, "model.kerple_log.r2", kR2);
  const at::Tensor biases = Biases(probe);
  for (int h = 0; h < kHeads; ++h) {
    const double r1 = std::max(kR1[h], 0.01);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const double distance = std::abs(kPositions[i] - kPositions[j]);
        EXPECT_NEAR(biases[0][h][i][j].item<double>(),
                    -r1 * std::log(1.0 + kR2[h] * distance), 1e-14);
      }
    }
  }
}

TEST(KerpleTest, ThePowerKernelIsThePapers) {
  const Probe probe(FromText("{name: kerple_power}"), Shape());
  Set(probe, "model.kerple_power.r1", kR1);
  Set(probe, "model.kerple_power.r2", kR2);
  const at::Tensor biases = Biases(probe);
  for (int h = 0; h < kHeads; ++h) {
    const double r1 = std::max(kR1[h], 0.01), r2 = std::min(kR2[h], 2.0);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const double distance = std::abs(kPositions[i] - kPositions[j]);
        EXPECT_NEAR(biases[0][h][i][j].item<double>(),
                    -r1 * std::pow(distance, r2), 1e-11);
      }
    }
  }
}

TEST(KerpleTest, ThePowerKernelOfExponentOneIsAlibi) {
  const Probe power(FromText("{name: kerple_power}"), Shape());
  Set(power, "model.kerple_power.r1", {0.25, 0.0625, 0.015625, 0.00390625});
  Set(power, "model.kerple_power.r2", {1, 1, 1, 1});
  const at::Tensor alibi = Biases(Probe(FromText("{name: alibi}"), Shape()));
  const at::Tensor biases = Biases(power);
  // The least slope is below the least r1.
  EXPECT_LT(MaxDifference(biases.narrow(1, 0, 3), alibi.narrow(1, 0, 3)),
            1e-14);
  EXPECT_NEAR(biases[0][3][3][0].item<double>(), -0.4, 1e-14);
}

TEST(KerpleTest, GradientsAreFiniteAtDistanceZeroAndComeBackFromABound) {
  for (const std::string name : {"kerple_log", "kerple_power"}) {
    const Probe probe(FromText("{name: " + name + "}"), Shape());
    Set(probe, "model." + name + ".r1", {0.5, 0.5, -3.0, 0.5});
    Set(probe, "model." + name + ".r2", {0.3, 1.0, 1.5, -1.0});
    Biases(probe).sum().backward();
    for (const auto& parameter : probe.parameters().all()) {
      const at::Tensor gradient = parameter.tensor.grad();
      EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << parameter.name;
      // Every head's, those outside of their bounds included.
      EXPECT_TRUE((gradient < -1e-3).all().item<bool>()) << parameter.name;
    }
  }
}

// At the bound and beyond it the gradient is the bound's.
TEST(KerpleTest, BeyondABoundTheGradientIsTheBounds) {
  const auto gradient = [](double r1) {
    const Probe probe(FromText("{name: kerple_log}"), Shape());
    Set(probe, "model.kerple_log.r1", {r1, 1, 1, 1});
    Set(probe, "model.kerple_log.r2", {1, 1, 1, 1});
    Biases(probe).sum().backward();
    return probe.Parameter("model.kerple_log.r1").grad()[0].item<double>();
  };
  EXPECT_NEAR(gradient(-7.0), gradient(0.01), 1e-12);
}

TEST(KerpleTest, StartsUniformAndSharedUnlessPerLayer) {
  const auto greatest = [](const std::string& name, const std::string& r) {
    const Probe probe(FromText("{name: " + name + "}"), {1, 2000, 1000});
    const at::Tensor values = probe.Parameter("model." + name + "." + r);
    EXPECT_GE(values.min().item<double>(), 0.0);
    EXPECT_NEAR(values.mean().item<double>(), values.max().item<double>() / 2,
                0.06);
    return values.max().item<double>();
  };
  EXPECT_NEAR(greatest("kerple_log", "r1"), 2.0, 0.02);
  EXPECT_NEAR(greatest("kerple_log", "r2"), 1.0, 0.02);
  EXPECT_NEAR(greatest("kerple_power", "r1"), 1.0, 0.02);
  EXPECT_NEAR(greatest("kerple_power", "r2"), 2.0, 0.02);
  const Probe own(FromText("{name: kerple_log, params: {per_layer: true}}"),
                  Shape(3));
  EXPECT_EQ(own.parameters().NumValues(), 3 * 2 * kHeads);
}

}  // namespace
}  // namespace ordo::model::encodings
