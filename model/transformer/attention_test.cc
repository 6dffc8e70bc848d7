#include "model/transformer/attention.h"

#include <cmath>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/zeros_like.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

// Legend: B batch, H heads, T queries, S keys, D head width.

namespace ordo::model::transformer {
namespace {

using testing::Doubles;
using testing::GradientError;
using testing::Longs;
using testing::MaxDifference;
using testing::Normals;

constexpr int kB = 2, kH = 3, kT = 4, kD = 6;

struct Attention {
  AttentionInput input;
  std::vector<at::Tensor> values;
};

Attention Input(int64_t num_queries = kT, int64_t num_keys = kT) {
  Attention attention;
  attention.input.q_BHTD = Normals({kB, kH, num_queries, kD}, "q");
  attention.input.k_BHSD = Normals({kB, kH, num_keys, kD}, "k");
  attention.values = {Normals({kB, kH, num_keys, 5}, "v")};
  return attention;
}

AttentionMask Causal(int64_t num_queries = kT, int64_t num_keys = kT,
                     const at::Tensor& real = {}) {
  return AttentionMask({num_queries, num_keys}, real, at::kDouble);
}

AttentionMask Open() {
  return AttentionMask({kT, kT, /*causal=*/false}, {}, at::kDouble);
}

// The first of the values.
at::Tensor Attend1(const Attention& attention, const AttentionMask& mask) {
  return Mix(AttentionWeights(attention.input, mask), attention.values)[0];
}

// The formula in plain loops; `real` as in AttentionMask.
at::Tensor SlowAttend(const Attention& attention, const at::Tensor& real) {
  const auto& [input, values] = attention;
  const int64_t num_queries = input.q_BHTD.size(2);
  const int64_t num_keys = input.k_BHSD.size(2);
  at::Tensor out = at::zeros_like(values[0].narrow(2, 0, num_queries));
  for (int64_t b = 0; b < kB; ++b) {
    for (int64_t h = 0; h < kH; ++h) {
      for (int64_t i = 0; i < num_queries; ++i) {
        double sum = 0.0;
        at::Tensor mixed = at::zeros_like(values[0][0][0][0]);
        for (int64_t j = 0; j <= num_keys - num_queries + i; ++j) {
          if (real.defined() && !real[b][j].item<bool>()) continue;
          double dot = (input.q_BHTD[b][h][i] * input.k_BHSD[b][h][j])
                           .sum()
                           .item<double>();
          const double weight = std::exp(dot / std::sqrt(double{kD}));
          sum += weight;
          mixed = mixed + values[0][b][h][j] * weight;
        }
        if (sum > 0.0) out[b][h][i].copy_(mixed / sum);
      }
    }
  }
  return out;
}

TEST(AttentionTest, EqualsTheFormulaInPlainLoops) {
  const Attention input = Input();
  EXPECT_LT(MaxDifference(Attend1(input, Causal()), SlowAttend(input, {})),
            1e-14);
}

TEST(AttentionTest, QueriesBelongToTheLastKeys) {
  const Attention input = Input(2, 7);
  EXPECT_LT(MaxDifference(Attend1(input, Causal(2, 7)), SlowAttend(input, {})),
            1e-14);
}

TEST(AttentionTest, ASingleQuerySeesAllKeys) {
  const Attention input = Input(1, 7);
  EXPECT_LT(MaxDifference(Attend1(input, Causal(1, 7)), SlowAttend(input, {})),
            1e-14);
}

TEST(AttentionTest, PaddedKeysTakeNoPart) {
  const at::Tensor real =
      Longs({kB, kT}, {0, 1, 1, 1, 1, 1, 1, 0}).to(at::kBool);
  const Attention input = Input();
  EXPECT_LT(MaxDifference(Attend1(input, Causal(kT, kT, real)),
                          SlowAttend(input, real)),
            1e-14);
}

TEST(AttentionTest, AQueryThatSeesNoKeyGivesZerosAndNoNanInGradients) {
  const at::Tensor real =
      Longs({kB, kT}, {0, 0, 1, 1, 1, 1, 1, 1}).to(at::kBool);
  const Attention attention = Input();
  const AttentionInput& input = attention.input;
  input.q_BHTD.requires_grad_(true);
  input.k_BHSD.requires_grad_(true);
  const at::Tensor out = Attend1(attention, Causal(kT, kT, real));
  EXPECT_EQ(out[0].narrow(1, 0, 2).abs().max().item<double>(), 0.0);
  out.sum().backward();
  EXPECT_FALSE(input.q_BHTD.grad().isnan().any().item<bool>());
  EXPECT_FALSE(input.k_BHSD.grad().isnan().any().item<bool>());
}

TEST(AttentionTest, WithoutAMaskEveryKeyIsSeen) {
  const Attention input = Input();
  const at::Tensor weights = AttentionWeights(input.input, Open());
  EXPECT_GT(weights.min().item<double>(), 0.0);
  EXPECT_LT(MaxDifference(weights.sum(-1), weights.sum(-1) * 0.0 + 1.0), 1e-14);
}

TEST(AttentionTest, AProductOfItsOwnAndABiasMakeTheLogits) {
  const at::Tensor hidden = Doubles(
      {4, 4},
      {0, -1e30, -1e30, -1e30, 0, 0, -1e30, -1e30, 0, 0, 0, -1e30, 0, 0, 0, 0});
  const at::Tensor bias = Normals({kH, kT, kT}, "bias");
  const at::Tensor product = Normals({kB, kH, kT, kT}, "product");
  AttentionInput input = Input().input;
  const at::Tensor plain =
      at::Tensor(input.q_BHTD).matmul(input.k_BHSD.transpose(2, 3)) /
      std::sqrt(double{kD});
  input.bias = bias;
  EXPECT_LT(MaxDifference(AttentionWeights(input, Causal()),
                          (plain + bias + hidden).softmax(-1)),
            1e-14);
  input.product = product;
  EXPECT_LT(MaxDifference(AttentionWeights(input, Causal()),
                          (product + bias + hidden).softmax(-1)),
            1e-14);
  input.bias = at::Tensor();
  EXPECT_LT(MaxDifference(AttentionWeights(input, Causal()),
                          (product + hidden).softmax(-1)),
            1e-14);
}

// TAPE mixes v and its state by one map: the map's gradient has to come through
// both, or half of it is lost without a sign.
TEST(AttentionTest, TheMapsGradientComesThroughAllValues) {
  const auto loss = [](const std::vector<at::Tensor>& in, double first,
                       double second) {
    const std::vector<at::Tensor> out =
        Mix(AttentionWeights({in[0], in[1], {}, {}}, Causal()), {in[2], in[3]});
    return (out[0] * Normals({kB, kH, kT, 5}, "ga")).sum() * first +
           (out[1] * Normals({kB, kH, kT, 7}, "gb")).sum() * second;
  };
  const std::vector<at::Tensor> inputs = {
      Normals({kB, kH, kT, kD}, "q"), Normals({kB, kH, kT, kD}, "k"),
      Normals({kB, kH, kT, 5}, "v"), Normals({kB, kH, kT, 7}, "e")};
  const double weights[][2] = {{1, 1}, {1, 0}, {0, 1}};
  for (const auto& weight : weights) {
    EXPECT_LT(GradientError(
                  [&](const std::vector<at::Tensor>& in) {
                    return loss(in, weight[0], weight[1]);
                  },
                  inputs),
              1e-7)
        << weight[0] << " " << weight[1];
  }
}

TEST(AttentionTest, FurtherValuesChangeNoBitOfTheFirst) {
  Attention input = Input();
  const at::Tensor alone = Attend1(input, Causal());
  input.values.push_back(Normals({kB, kH, kT, 7}, "e"));
  EXPECT_TRUE(testing::SameBits(Attend1(input, Causal()), alone));
}

TEST(AttentionTest, GradientsUnderPaddingAreRight) {
  const at::Tensor real =
      Longs({kB, kT}, {0, 0, 1, 1, 1, 1, 1, 0}).to(at::kBool);
  const auto loss = [&](const std::vector<at::Tensor>& in) {
    return (Attend1({{in[0], in[1], {}, {}}, {in[2]}}, Causal(kT, kT, real)) *
            Normals({kB, kH, kT, 5}, "g"))
        .sum();
  };
  const Attention input = Input();
  EXPECT_LT(GradientError(loss, {input.input.q_BHTD, input.input.k_BHSD,
                                 input.values[0]}),
            1e-7);
}

TEST(AttentionTest, AMaskMayDifferByHead) {
  const Attention attention = Input();
  MaskOptions options{kT, kT};
  // Groups of two tokens, of later heads a token later.
  const auto group = [](int64_t i, int64_t h) { return (i + h) / 2; };
  options.allowed = at::zeros({1, kH, kT, kT}, at::kBool);
  for (int64_t h = 0; h < kH; ++h) {
    for (int64_t i = 0; i < kT * kT; ++i) {
      options.allowed[0][h][i / kT][i % kT] =
          group(i / kT, h) == group(i % kT, h);
    }
  }
  const at::Tensor weights = AttentionWeights(
      attention.input, AttentionMask(options, {}, at::kDouble));
  for (int64_t h = 0; h < kH; ++h) {
    for (int64_t i = 0; i < kT; ++i) {
      double sum = 0.0;
      const auto visible = [&](int64_t j) {
        return j <= i && group(i, h) == group(j, h);
      };
      const auto weight = [&](int64_t j) {
        double dot = 0.0;
        for (int64_t c = 0; c < kD; ++c) {
          dot += attention.input.q_BHTD[0][h][i][c].item<double>() *
                 attention.input.k_BHSD[0][h][j][c].item<double>();
        }
        return std::exp(dot / std::sqrt(double{kD}));
      };
      for (int64_t j = 0; j < kT; ++j) sum += visible(j) ? weight(j) : 0.0;
      for (int64_t j = 0; j < kT; ++j) {
        EXPECT_NEAR(weights[0][h][i][j].item<double>(),
                    visible(j) ? weight(j) / sum : 0.0, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace ordo::model::transformer
