#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::MaxDifference;
using model::testing::Normals;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

constexpr int kHeads = 2, kTokens = 7, kWidth = 8;

ModelShape Shape() {
  ModelShape shape;
  shape.layers = 2;
  shape.heads = kHeads;
  shape.width = kHeads * kWidth;
  return shape;
}

double Dot(const at::Tensor& a, const at::Tensor& b) {
  return (a * b).sum().item<double>();
}

double Sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

struct Reference {
  int max_position = 64;
  bool divide = false;
};

// Equations 3 to 5 with the weights of Listing 1, pair by pair; [B,H,T,T], 0
// for later keys. `gate_keys` are what opens gates.
at::Tensor Slow(const Attention& attention, const at::Tensor& table,
                const at::Tensor& gate_keys, const Reference& reference) {
  const at::Tensor &q = attention.q_BHTD, &k = attention.k_BHTD;
  const double root = std::sqrt(double{kWidth});
  at::Tensor scores =
      at::zeros({q.size(0), kHeads, kTokens, kTokens}, at::kDouble);
  for (int64_t b = 0; b < q.size(0); ++b) {
    for (int h = 0; h < kHeads; ++h) {
      for (int i = 0; i < kTokens; ++i) {
        double position = 0.0;
        for (int j = i; j >= 0; --j) {
          position += Sigmoid(Dot(q[b][h][i], gate_keys[b][h][j]) / root);
          const double p =
              std::min(position, double(reference.max_position - 1));
          const double low = std::floor(p), weight = p - low;
          double z = (1.0 - weight) * Dot(q[b][h][i], table[int(low)]);
          if (weight > 0.0) {
            z += weight * Dot(q[b][h][i], table[int(low) + 1]);
          }
          if (reference.divide) z /= root;
          scores[b][h][i][j] = Dot(q[b][h][i], k[b][h][j]) / root + z;
        }
      }
    }
  }
  return scores;
}

at::Tensor Lower(const at::Tensor& scores) { return scores.tril(); }

TEST(CopeTest, EqualsTheListingPairByPair) {
  for (const bool divide : {false, true}) {
    // Four positions: rows of seven tokens reach the clamp.
    Probe probe(FromText("{name: cope, params: {max_position: 4, "
                         "divide_position: " +
                         std::string(divide ? "true" : "false") + "}}"),
                Shape());
    probe.Randomize();
    const Attention attention = RandomAttention(2, kHeads, kTokens, kWidth);
    const at::NoGradGuard no_grad;
    EXPECT_LT(
        MaxDifference(Lower(probe.Scores(attention)),
                      Slow(attention,
                           probe.Parameter("model.layers.0.self_attn.cope."
                                           "positions.weight"),
                           attention.k_BHTD, {4, divide})),
        1e-13);
  }
}

TEST(CopeTest, ValuesMayOpenGates) {
  Probe probe(FromText("{name: cope, params: {gates: values}}"), Shape());
  probe.Randomize();
  const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  const at::NoGradGuard no_grad;
  EXPECT_LT(
      MaxDifference(Lower(probe.Scores(attention)),
                    Slow(attention,
                         probe.Parameter(
                             "model.layers.0.self_attn.cope.positions.weight"),
                         attention.v_BHTD, {})),
      1e-13);
}

TEST(CopeTest, KeysOfTheirOwnMayOpenGates) {
  Probe probe(FromText("{name: cope, params: {gates: sep_keys}}"), Shape());
  probe.Randomize();
  Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  attention.layer = 1;
  const at::NoGradGuard no_grad;
  const at::Tensor gate_keys =
      attention.hidden_BTC
          .matmul(probe
                      .Parameter("model.layers.1.self_attn.cope.gate_proj."
                                 "weight")
                      .t())
          .unflatten(-1, {kHeads, kWidth})
          .transpose(1, 2);
  EXPECT_LT(
      MaxDifference(Lower(probe.Scores(attention)),
                    Slow(attention,
                         probe.Parameter(
                             "model.layers.1.self_attn.cope.positions.weight"),
                         gate_keys, {})),
      1e-13);
}

// Under rope, gates open by the turned logits and positions meet the plain q.
TEST(CopeTest, BesideRopeTheGatesReadTheTurnedLogits) {
  Probe rope(FromText("{name: rope}"), Shape());
  Probe both(FromText("{name: rope, with: [{name: cope}]}"), Shape());
  Probe plain(
      FromText("{name: rope, with: [{name: cope, params: {gates: plain}}]}"),
      Shape());
  both.Randomize();
  plain.Randomize();
  const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  const at::NoGradGuard no_grad;
  const at::Tensor turned = rope.Scores(attention);
  const at::Tensor table =
      both.Parameter("model.layers.0.self_attn.cope.positions.weight");
  const auto expected = [&](const at::Tensor& gate_logits) {
    const at::Tensor position =
        gate_logits.sigmoid().tril().flip(-1).cumsum(-1).flip(-1);
    const at::Tensor low = position.floor(), weight = position - low;
    const at::Tensor z = attention.q_BHTD.matmul(table.t());
    return Lower(turned + z.gather(-1, low.to(at::kLong)) * (1.0 - weight) +
                 z.gather(-1, position.ceil().to(at::kLong)) * weight);
  };
  EXPECT_LT(MaxDifference(Lower(both.Scores(attention)), expected(turned)),
            1e-13);
  Probe reversed(FromText("{name: cope, with: [{name: rope}]}"), Shape());
  reversed.Randomize();
  EXPECT_EQ(MaxDifference(Lower(reversed.Scores(attention)),
                          Lower(both.Scores(attention))),
            0.0);
  EXPECT_LT(MaxDifference(
                Lower(plain.Scores(attention)),
                expected(ScaledProduct(attention.q_BHTD, attention.k_BHTD))),
            1e-13);
}

// All gates open: p = i - j + 1.
TEST(CopeTest, WithOpenGatesItIsShaw) {
  for (const bool divide : {false, true}) {
    Probe cope(FromText("{name: cope, params: {max_position: 9, gates: values, "
                        "divide_position: " +
                        std::string(divide ? "true" : "false") + "}}"),
               Shape());
    Probe shaw(FromText("{name: shaw, params: {max_distance: 6}}"), Shape());
    cope.Randomize();
    Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
    // Every q.v is large.
    attention.q_BHTD = attention.q_BHTD.abs() + 1.0;
    attention.v_BHTD = at::ones_like(attention.v_BHTD) * 1e3;
    const at::NoGradGuard no_grad;
    const at::Tensor table =
        cope.Parameter("model.layers.0.self_attn.cope.positions.weight");
    shaw.Parameter("model.layers.0.self_attn.shaw.key.weight")
        .copy_(table.narrow(0, 1, 7) * (divide ? 1.0 : std::sqrt(8.0)));
    EXPECT_LT(MaxDifference(Lower(cope.Scores(attention)),
                            Lower(shaw.Scores(attention))),
              1e-12);
  }
}

TEST(CopeTest, TheMlpReadsThePosition) {
  Probe probe(FromText("{name: cope, params: {form: mlp, mlp_width: 5}}"),
              Shape());
  probe.Randomize();
  const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  const at::NoGradGuard no_grad;
  const auto weight = [&](const std::string& name) {
    return probe.Parameter("model.layers.0.self_attn.cope.mlp." + name);
  };
  const at::Tensor scores = probe.Scores(attention);
  const at::Tensor &q = attention.q_BHTD, &k = attention.k_BHTD;
  double worst = 0.0;
  for (int h = 0; h < kHeads; ++h) {
    for (int i = 0; i < kTokens; ++i) {
      double position = 0.0;
      for (int j = i; j >= 0; --j) {
        const double product =
            Dot(q[0][h][i], k[0][h][j]) / std::sqrt(double{kWidth});
        position += Sigmoid(product);
        const at::Tensor inner =
            (weight("0.weight") * position + weight("0.bias")).clamp_min(0.0);
        const at::Tensor e =
            weight("1.weight").matmul(inner) + weight("1.bias");
        worst = std::max(worst, std::abs(scores[0][h][i][j].item<double>() -
                                         product - Dot(q[0][h][i], e)));
      }
    }
  }
  EXPECT_LT(worst, 1e-12);
}

TEST(CopeTest, SlopesTimesPositionsMakeFarTokensLessLikely) {
  const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  const at::NoGradGuard no_grad;
  const at::Tensor product = ScaledProduct(attention.q_BHTD, attention.k_BHTD);
  const at::Tensor position =
      product.sigmoid().tril().flip(-1).cumsum(-1).flip(-1);
  // 2^-(2 + 4h/2).
  const at::Tensor slope =
      model::testing::Doubles({1, 2, 1, 1}, {0.25, 0.0625});
  Probe minus(FromText("{name: cope, params: {form: alibi, "
                       "slope_exponent: 2}}"),
              Shape());
  EXPECT_LT(MaxDifference(Lower(minus.Scores(attention)),
                          Lower(product - slope * position)),
            1e-13);
  Probe plus(FromText("{name: cope, params: {form: alibi, sign: plus, "
                      "slope_exponent: 2}}"),
             Shape());
  EXPECT_LT(MaxDifference(Lower(plus.Scores(attention)),
                          Lower(product + slope * position)),
            1e-13);
  Probe learned(
      FromText("{name: cope, params: {form: alibi, learned_slopes: true}}"),
      Shape());
  EXPECT_EQ(MaxDifference(Lower(learned.Scores(attention)), Lower(product)),
            0.0);
}

TEST(CopeTest, EmbeddingsStartAtZero) {
  Probe probe(FromText("{name: cope}"), Shape());
  const Attention attention = RandomAttention(1, kHeads, kTokens, kWidth);
  const at::NoGradGuard no_grad;
  EXPECT_EQ(
      MaxDifference(Lower(probe.Scores(attention)),
                    Lower(ScaledProduct(attention.q_BHTD, attention.k_BHTD))),
      0.0);
}

// Every gate open: the positions of 4096 tokens are whole numbers, and each
// takes its own row, in bf16 too.
TEST(CopeTest, CountsThousandsExactlyInHalfPrecision) {
  constexpr int64_t kLong = 4096;
  Probe probe(FromText("{name: cope, params: {max_position: 4097, form: table, "
                       "gates: values}}"),
              Shape());
  Attention attention;
  attention.q_BHTD = at::ones({1, kHeads, kLong, kWidth}, at::kBFloat16) * 64;
  attention.k_BHTD = at::zeros({1, kHeads, kLong, kWidth}, at::kBFloat16);
  attention.v_BHTD = at::ones({1, kHeads, kLong, kWidth}, at::kBFloat16) * 64;
  const at::NoGradGuard no_grad;
  // Row p is a vector whose product with q is p mod 3.
  at::Tensor table =
      probe.Parameter("model.layers.0.self_attn.cope.positions.weight");
  for (int64_t p = 0; p <= kLong; ++p) {
    table[p].fill_(static_cast<double>(p % 3) / (64 * kWidth));
  }
  table.set_data(table.to(at::kBFloat16));
  const at::Tensor last = probe.Scores(attention).select(2, -1)[0][0];
  for (int64_t j = 0; j < kLong; ++j) {
    EXPECT_EQ(last[j].item<double>(), (kLong - j) % 3) << j;
  }
}

}  // namespace
}  // namespace ordo::model::encodings
