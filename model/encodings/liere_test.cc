#include <cmath>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/eye.h"
#include "ATen/ops/zeros.h"
#include "gtest/gtest.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MakeTransformer;
using model::testing::MaxDifference;
using model::testing::SmallModel;
using testing::Attention;
using testing::FromText;
using testing::Probe;
using testing::RandomAttention;

const std::string kGenerators = "model.layers.0.self_attn.liere.generators";

std::string Liere(const std::string& params) {
  return "{name: liere, params: {" + params + "}}";
}

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  return Probe(FromText(yaml), {1, 8, 1}).Scores(attention);
}

// exp(x) by its power series, halved and squared.
at::Tensor Exponential(const at::Tensor& x) {
  const at::Tensor small = x / 1024.0;
  at::Tensor sum = at::eye(x.size(0), at::kDouble), term = sum;
  for (int order = 1; order < 20; ++order) {
    term = term.matmul(small) / static_cast<double>(order);
    sum = sum + term;
  }
  for (int square = 0; square < 10; ++square) sum = sum.matmul(sum);
  return sum;
}

// The matrix [8,8] of one axis from its values below the diagonal, block by
// block, row by row.
at::Tensor Generator(const at::Tensor& values, int64_t block) {
  at::Tensor matrix = at::zeros({8, 8}, at::kDouble);
  for (int64_t n = 0; n < 8 / block; ++n) {
    int64_t next = 0;
    for (int64_t row = 1; row < block; ++row) {
      for (int64_t column = 0; column < row; ++column, ++next) {
        const double value = values[n][next].item<double>();
        matrix[n * block + row][n * block + column] = value;
        matrix[n * block + column][n * block + row] = -value;
      }
    }
  }
  return matrix;
}

TEST(LiereTest, TurnsByTheExponentialOfItsGenerators) {
  for (const int64_t block : {2, 4, 8}) {
    Probe probe(FromText(Liere("block: " + std::to_string(block) +
                               ", axes: 2, columns: 3")),
                {1, 8, 1});
    probe.Randomize();
    const at::NoGradGuard no_grad;
    const at::Tensor generators = probe.Parameter(kGenerators);
    const at::Tensor row = Generator(generators[0][0], block);
    const at::Tensor column = Generator(generators[1][0], block);
    const Attention attention = RandomAttention(1, 1, 7, 8);
    const at::Tensor scores = probe.Scores(attention);
    const auto turned = [&](const at::Tensor& x, int64_t token) {
      const auto r = static_cast<double>(token / 3);
      const auto c = static_cast<double>(token % 3);
      return Exponential(row * r + column * c).mv(x[0][0][token]);
    };
    for (int64_t i = 0; i < 7; ++i) {
      for (int64_t j = 0; j < 7; ++j) {
        const double expected = turned(attention.q_BHTD, i)
                                    .dot(turned(attention.k_BHTD, j))
                                    .item<double>() /
                                std::sqrt(8.0);
        EXPECT_NEAR(scores[0][0][i][j].item<double>(), expected, 1e-11)
            << block << " " << i << " " << j;
      }
    }
  }
}

TEST(LiereTest, ItStartsAsRopeWhateverTheBlocks) {
  const Attention attention = RandomAttention(2, 1, 9, 8);
  const at::Tensor rope = Scores(
      "{name: rope, params: {base: 70, layout: interleaved}}", attention);
  for (const std::string block : {"0", "2", "4", "8"}) {
    EXPECT_LT(MaxDifference(
                  Scores(Liere("base: 70, block: " + block), attention), rope),
              1e-12)
        << block;
  }
}

TEST(LiereTest, WithTwoAxesItStartsAsRopeOfTheGrid) {
  const Attention attention = RandomAttention(2, 1, 9, 8);
  EXPECT_LT(
      MaxDifference(
          Scores(Liere("axes: 2, columns: 4, block: 4"), attention),
          Scores("{name: rope_2d, params: {columns: 4, layout: interleaved}}",
                 attention)),
      1e-12);
}

TEST(LiereTest, OneAxisSeesDistancesOnly) {
  Probe probe(FromText(Liere("block: 8")), {1, 8, 1});
  probe.Randomize();
  Attention attention = RandomAttention(1, 1, 5, 8);
  const at::Tensor before = probe.Scores(attention);
  attention.positions_BT = Longs({1, 5}, {1000, 1001, 1002, 1003, 1004});
  EXPECT_LT(MaxDifference(before, probe.Scores(attention)), 1e-9);
}

TEST(LiereTest, RotationsKeepLengthsFarOut) {
  Probe probe(FromText(Liere("block: 4")), {1, 8, 1});
  probe.Randomize();
  Attention attention = RandomAttention(1, 1, 1, 8);
  attention.k_BHTD = attention.q_BHTD;
  const at::Tensor before = probe.Scores(attention);
  attention.positions_BT = Longs({1, 1}, {131071});
  EXPECT_LT(MaxDifference(before, probe.Scores(attention)), 1e-9);
}

// q's heads turn as the key head that they share does: shifts change nothing.
TEST(LiereTest, HeadsTurnAsTheirKeyHead) {
  auto model = SmallModel();
  model.set_heads(4);
  model.set_head_width(4);
  model.set_key_value_heads(2);
  parameters::ParameterOptions in_double;
  in_double.dtype = at::kDouble;
  const auto transformer =
      MakeTransformer(model, FromText("{name: liere}"), in_double);
  model::testing::Randomize(transformer->Parameters());
  const at::Tensor tokens = Integers({2, 5}, 11, "tokens");
  transformer::ForwardOptions shifted;
  shifted.positions = Longs({1, 5}, {0, 1, 2, 3, 4}) + 100;
  EXPECT_LT(MaxDifference(Logits(*transformer, tokens),
                          Logits(*transformer, tokens, shifted)),
            1e-10);
}

TEST(LiereTest, GroupedHeadsStartAsRope) {
  auto model = SmallModel();
  model.set_heads(4);
  model.set_head_width(4);
  model.set_key_value_heads(2);
  parameters::ParameterOptions in_double;
  in_double.dtype = at::kDouble;
  const auto logits = [&](const std::string& yaml) {
    return Logits(*MakeTransformer(model, FromText(yaml), in_double),
                  Integers({2, 5}, 11, "tokens"));
  };
  EXPECT_LT(
      MaxDifference(logits("{name: liere}"),
                    logits("{name: rope, params: {layout: interleaved}}")),
      1e-12);
}

}  // namespace
}  // namespace ordo::model::encodings
