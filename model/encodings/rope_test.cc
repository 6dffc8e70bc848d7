#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/encodings/rotary_scaling.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Doubles;
using model::testing::Encoding;
using model::testing::Integers;
using model::testing::Logits;
using model::testing::Longs;
using model::testing::MaxDifference;
using model::testing::Normals;
using model::testing::SmallTransformer;
using ordo::training::v1::Component;

Component Rope(const std::string& layout, double partial = 1.0) {
  Component component = Encoding("rope");
  (*component.mutable_params())["layout"].set_string_value(layout);
  (*component.mutable_params())["partial"].set_number_value(partial);
  return component;
}

// q.k after rotation, [B,H,T,T].
at::Tensor Scores(const Component& component, const at::Tensor& positions,
                  const at::Tensor& q, const at::Tensor& k) {
  ModelShape shape;
  shape.layers = 1;
  shape.heads = static_cast<int>(q.size(1));
  shape.width = static_cast<int>(q.size(1) * q.size(3));
  encodings::testing::Attention attention;
  attention.q_BHTD = q;
  attention.k_BHTD = k;
  attention.positions_BT = positions;
  return encodings::testing::Probe(component, shape).Scores(attention) *
         std::sqrt(static_cast<double>(q.size(3)));
}

TEST(RopeTest, AScoreOfOnePairIsTheCosineOfTheDistance) {
  const at::Tensor one = Doubles({1, 1, 2, 2}, {1, 0, 1, 0});
  const at::Tensor scores =
      Scores(Encoding("rope"), Longs({1, 2}, {4, 9}), one, one);
  EXPECT_LT(MaxDifference(scores.flatten(),
                          Doubles({4}, {1, std::cos(5.0), std::cos(5.0), 1})),
            1e-14);
}

TEST(RopeTest, ADirectionTellsBeforeFromAfter) {
  // q = (1, 0), k = (0, 1): Re(e^{i(p - s)} conj(i)) = sin(p - s).
  const at::Tensor q = Doubles({1, 1, 2, 2}, {1, 0, 1, 0});
  const at::Tensor k = Doubles({1, 1, 2, 2}, {0, 1, 0, 1});
  const at::Tensor scores =
      Scores(Encoding("rope"), Longs({1, 2}, {4, 9}), q, k);
  EXPECT_LT(MaxDifference(scores.flatten(),
                          Doubles({4}, {0, std::sin(-5.0), std::sin(5.0), 0})),
            1e-14);
}

TEST(RopeTest, ScoresDependOnDistancesOnly) {
  const at::Tensor q = Normals({2, 2, 5, 8}, "q"),
                   k = Normals({2, 2, 5, 8}, "k");
  const at::Tensor positions = Longs({1, 5}, {0, 1, 2, 3, 4});
  const at::Tensor start = Scores(Encoding("rope"), positions, q, k);
  EXPECT_LT(
      MaxDifference(start, Scores(Encoding("rope"), positions + 100000, q, k)),
      1e-9);
}

TEST(RopeTest, LayoutsDifferByAPermutationOfChannels) {
  const at::Tensor q = Normals({2, 2, 5, 8}, "q"),
                   k = Normals({2, 2, 5, 8}, "k");
  const at::Tensor positions = Longs({1, 5}, {0, 1, 2, 3, 4});
  // Channel 2f of the interleaved layout is f of the half-split one.
  const at::Tensor order = Longs({8}, {0, 2, 4, 6, 1, 3, 5, 7});
  const at::Tensor interleaved = Scores(Rope("interleaved"), positions, q, k);
  EXPECT_LT(MaxDifference(interleaved, Scores(Rope("half_split"), positions,
                                              q.index_select(3, order),
                                              k.index_select(3, order))),
            1e-14);
  EXPECT_GT(
      MaxDifference(interleaved, Scores(Rope("half_split"), positions, q, k)),
      0.1);
}

TEST(RopeTest, PartialTurnsTheFirstChannelsByTheirOwnFrequencies) {
  const at::Tensor q = Normals({1, 2, 5, 8}, "q"),
                   k = Normals({1, 2, 5, 8}, "k");
  const at::Tensor positions = Longs({1, 5}, {0, 1, 2, 3, 4});
  const at::Tensor first =
      Scores(Rope("half_split"), positions, q.narrow(3, 0, 4).contiguous(),
             k.narrow(3, 0, 4).contiguous());
  const at::Tensor rest =
      q.narrow(3, 4, 4).matmul(k.narrow(3, 4, 4).transpose(2, 3));
  EXPECT_LT(MaxDifference(Scores(Rope("half_split", 0.5), positions, q, k),
                          first + rest),
            1e-14);
}

TEST(RopeTest, PartialZeroIsNoEncoding) {
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  const auto none = SmallTransformer(Encoding("none"));
  const auto rope = SmallTransformer(Rope("half_split", 0.0));
  EXPECT_EQ(MaxDifference(Logits(*none, tokens), Logits(*rope, tokens)), 0.0);
}

// The names of the family that turn by fixed frequencies, with what differs.
TEST(RopeTest, ScalingsTurnByTheirFrequencies) {
  const at::Tensor q = Normals({1, 1, 3, 8}, "q"),
                   k = Normals({1, 1, 3, 8}, "k");
  const at::Tensor positions = Longs({1, 3}, {2, 30, 47});
  for (const std::string yaml :
       {"{name: linear, params: {factor: 3}}", "{name: ntk}",
        "{name: partial_ntk, params: {trained_length: 64, base: 50}}",
        "{name: yarn, params: {trained_length: 64, base: 50, factor: 3}}",
        "{name: llama3, params: {trained_length: 64, base: 50}}",
        "{name: theta}", "{name: rope_mixed_base}"}) {
    Component component = encodings::testing::FromText(yaml);
    std::vector<base::FieldViolation> violations;
    catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &component,
                              &violations);
    const Rotation rotation = RotationOf(component, 8, 1);
    const auto pair = [&](const at::Tensor& x, int64_t token, int64_t f) {
      const at::Tensor row = x[0][0][token];
      const auto place = positions[0][token].item<double>();
      return std::complex<double>(row[f].item<double>(),
                                  row[f + 4].item<double>()) *
             std::polar(rotation.attention_factor,
                        place * rotation.frequencies[f]);
    };
    const at::Tensor scores = Scores(component, positions, q, k);
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        double sum = 0.0;
        for (int64_t f = 0; f < 4; ++f) {
          sum += (pair(q, i, f) * std::conj(pair(k, j, f))).real();
        }
        EXPECT_NEAR(scores[0][0][i][j].item<double>(), sum, 1e-12) << yaml;
      }
    }
  }
}

TEST(RopeTest, LinearIsRopeAtDividedPositions) {
  const at::Tensor q = Normals({1, 2, 3, 8}, "q"),
                   k = Normals({1, 2, 3, 8}, "k");
  EXPECT_LT(
      MaxDifference(Scores(encodings::testing::FromText(
                               "{name: linear, params: {factor: 4}}"),
                           Longs({1, 3}, {4, 16, 40}), q, k),
                    Scores(Encoding("rope"), Longs({1, 3}, {1, 4, 10}), q, k)),
      1e-13);
}

TEST(RopeTest, OnlyTurnedChannelsTakeTheAttentionFactor) {
  const at::Tensor q = Normals({1, 1, 2, 8}, "q"),
                   k = Normals({1, 1, 2, 8}, "k");
  const at::Tensor positions = Longs({1, 2}, {0, 3});
  const auto yarn = [&](const std::string& factor) {
    return Scores(encodings::testing::FromText(
                      "{name: yarn, params: {partial: 0.5, attention_factor: " +
                      factor + "}}"),
                  positions, q, k);
  };
  const at::Tensor still =
      q.narrow(3, 4, 4).matmul(k.narrow(3, 4, 4).transpose(2, 3));
  EXPECT_LT(MaxDifference((yarn("1") - still) * 9.0, yarn("3") - still), 1e-13);
}

}  // namespace
}  // namespace ordo::model::encodings
