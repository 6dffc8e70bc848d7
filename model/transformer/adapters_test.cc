#include "model/transformer/adapters.h"

#include <cmath>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::transformer {
namespace {

using testing::GradientError;
using testing::MaxDifference;
using testing::Normals;
using testing::SameBits;

constexpr int kOut = 5, kIn = 4, kRank = 2;
constexpr double kAlpha = 3.0;

class AdaptersTest : public ::testing::Test {
 protected:
  AdaptersTest() : parameters_(Double()) {
    linear_.weight = Normals({kOut, kIn}, "w");
    linear_.bias = Normals({kOut}, "b");
    plain_ = linear_.weight.clone();
    ordo::training::v1::Lora lora;
    lora.set_rank(kRank);
    lora.set_alpha(kAlpha);
    adapters_.Add(lora, "model.x", &linear_, &parameters_);
  }

  static parameters::ParameterOptions Double() {
    parameters::ParameterOptions options;
    options.dtype = at::kDouble;
    return options;
  }

  // B is 0 at the start.
  void FillB() {
    const at::NoGradGuard no_grad;
    parameters_.Find("model.x.lora_B.weight")
        .copy_(Normals({kOut, kRank}, "B"));
  }

  parameters::ParameterSet parameters_;
  LinearWeights linear_;
  at::Tensor plain_;
  Adapters adapters_;
  const at::Tensor x_ = Normals({3, kIn}, "x");
};

TEST_F(AdaptersTest, StartWithoutEffectAndUniform) {
  EXPECT_TRUE(SameBits(Linear(x_, linear_).detach(),
                       Linear(x_, {plain_, linear_.bias})));
  const at::Tensor a = parameters_.Find("model.x.lora_A.weight");
  const double bound = 1.0 / std::sqrt(double{kIn});
  EXPECT_EQ(a.sizes(), (std::vector<int64_t>{kRank, kIn}));
  EXPECT_LE(a.abs().max().item<double>(), bound);
  EXPECT_GT(a.std().item<double>(), 0.0);
  EXPECT_EQ(parameters_.Find("model.x.lora_B.weight").sizes(),
            (std::vector<int64_t>{kOut, kRank}));
}

TEST_F(AdaptersTest, AddAlphaOverRankTimesBA) {
  FillB();
  const at::Tensor a = parameters_.Find("model.x.lora_A.weight").detach();
  const at::Tensor b = parameters_.Find("model.x.lora_B.weight").detach();
  at::Tensor expected = at::zeros({3, kOut}, at::kDouble);
  for (int n = 0; n < 3; ++n) {
    for (int o = 0; o < kOut; ++o) {
      double sum = linear_.bias[o].item<double>();
      for (int i = 0; i < kIn; ++i) {
        double weight = plain_[o][i].item<double>();
        for (int r = 0; r < kRank; ++r) {
          weight +=
              kAlpha / kRank * b[o][r].item<double>() * a[r][i].item<double>();
        }
        sum += weight * x_[n][i].item<double>();
      }
      expected[n][o] = sum;
    }
  }
  EXPECT_LT(MaxDifference(Linear(x_, linear_).detach(), expected), 1e-12);
}

TEST_F(AdaptersTest, HaveTheirGradients) {
  const auto loss = [&](const std::vector<at::Tensor>& in) {
    const LinearWeights linear{in[0], in[1], {in[2], in[3], kAlpha / kRank}};
    return Linear(in[4], linear).square().sum();
  };
  EXPECT_LT(GradientError(loss, {plain_, linear_.bias, Normals({2, kIn}, "A"),
                                 Normals({kOut, 2}, "B"), x_}),
            1e-6);
}

TEST_F(AdaptersTest, MergedActTheSameAndUnmergedGiveTheBitsBack) {
  FillB();
  const at::Tensor before = Linear(x_, linear_).detach();
  adapters_.Merge();
  EXPECT_FALSE(linear_.adapter.in.defined());
  EXPECT_FALSE(SameBits(linear_.weight, plain_));
  EXPECT_LT(MaxDifference(Linear(x_, linear_), before), 1e-12);
  // Once only.
  adapters_.Merge();
  EXPECT_LT(MaxDifference(Linear(x_, linear_), before), 1e-12);
  adapters_.Unmerge();
  EXPECT_TRUE(SameBits(linear_.weight, plain_));
  EXPECT_TRUE(SameBits(Linear(x_, linear_).detach(), before));
  adapters_.Unmerge();
  EXPECT_TRUE(SameBits(linear_.weight, plain_));
}

}  // namespace
}  // namespace ordo::model::transformer
