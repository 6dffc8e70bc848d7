#include "model/evaluation/inspect.h"

#include <cmath>
#include <string>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/eye.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/metric_names.h"
#include "model/encodings/testing/examples.h"
#include "model/testing/models.h"

namespace ordo::model::evaluation {
namespace {

using encodings::testing::FromText;
using model::testing::MakeTransformer;
using model::testing::Randomize;
using model::testing::SmallModel;
using model::testing::SmallTransformer;
using tasks::Inside;
using tasks::InsideQuery;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using transformer::Transformer;

const std::vector<int64_t> kRow = {3, 1, 4, 1, 5};

// In double, with no products of queries and keys: attention's logits are the
// encoding's bias alone.
std::unique_ptr<Transformer> WithoutProducts(const std::string& encoding) {
  auto model = SmallTransformer(FromText(encoding));
  const at::NoGradGuard no_grad;
  for (const auto& named : model->Parameters()) {
    if (named.name.find("q_proj") != std::string::npos) named.tensor.zero_();
  }
  return model;
}

InsideQuery Query(InsideQuery::Kind kind) {
  InsideQuery query;
  query.kind = kind;
  return query;
}

// 10000^(-f/4), the four frequencies of a head of eight channels.
double Frequency(int f) { return std::pow(10000.0, -f / 4.0); }

// The mean over frequencies of cos(distance theta_f).
double MeanCosine(double distance) {
  double sum = 0;
  for (int f = 0; f < 4; ++f) sum += std::cos(distance * Frequency(f));
  return sum / 4;
}

// a_ij = 1/i for i = 1, 2, ... becomes 1/(i + 3) with three tokens in front.
TEST(InspectTest, TokensInFrontTakeTheirShareOfEvenAttention) {
  InsideQuery query = Query(InsideQuery::Kind::kShifts);
  query.begin = 2;
  const Inside inside =
      Inspect(*WithoutProducts("{name: none}"), query, kRow, false);
  double lost = 0;
  for (int i = 1; i <= 5; ++i) lost += 1 - i / (i + 3.0);
  for (const char* layer : {"1", "2"}) {
    const std::string name = std::string("_l") + layer;
    EXPECT_NEAR(inside.numbers.at("add_attention" + name), lost / 15, 1e-7);
    EXPECT_NEAR(inside.numbers.at("add_variation" + name), lost / 2 / 5, 1e-7);
    EXPECT_EQ(inside.numbers.at("shift_attention" + name), 0);
    EXPECT_EQ(inside.numbers.at("shift_variation" + name), 0);
  }
  // Of three layers 1 and 2 are among 1, 2, 4 and 8; without positions that
  // turn q and k there are no products of them.
  EXPECT_EQ(inside.numbers.size(), 8u);
  EXPECT_EQ(inside.score, 0);
  EXPECT_THAT(inside.maps, IsEmpty());
}

TEST(InspectTest, WithoutATokenToBeginWithOnlyIdsAreShifted) {
  const Inside inside = Inspect(*WithoutProducts("{name: rope}"),
                                Query(InsideQuery::Kind::kShifts), kRow, false);
  EXPECT_THAT(
      inside.numbers,
      ElementsAre(Key("shift_attention_l1"), Key("shift_attention_l2"),
                  Key("shift_positions_l1"), Key("shift_positions_l2"),
                  Key("shift_variation_l1"), Key("shift_variation_l2")));
}

// Table 8 of the paper: rounding where a shift counts for nothing, and clearly
// above that without equivariance. Absolute positions change with the first.
TEST(InspectTest, ShiftedIdsAreRoundingWhereAShiftCountsForNothing) {
  struct Case {
    const char* encoding;
    // At layer 1, and at layer 2.
    bool first;
    bool second;
  };
  for (const Case& of :
       {Case{"{name: rope}", false, false}, Case{"{name: tape}", false, false},
        Case{"{name: tape, params: {equivariant: false}}", false, true},
        Case{"{name: sinusoidal}", true, true}}) {
    const auto model = MakeTransformer(SmallModel(), FromText(of.encoding));
    Randomize(model->Parameters());
    const Inside inside = Inspect(*model, Query(InsideQuery::Kind::kShifts),
                                  kRow, /*with_maps=*/false);
    const auto& numbers = inside.numbers;
    EXPECT_EQ(numbers.at("shift_attention_l1") > 1e-4, of.first)
        << of.encoding << " " << numbers.at("shift_attention_l1");
    EXPECT_EQ(numbers.at("shift_attention_l2") > 1e-4, of.second)
        << of.encoding << " " << numbers.at("shift_attention_l2");
    EXPECT_NEAR(
        inside.score,
        -(numbers.at("shift_attention_l1") + numbers.at("shift_attention_l2")) /
            2,
        1e-9);
    if (numbers.count("shift_positions_l2") == 0) continue;
    EXPECT_LT(numbers.at("shift_positions_l1"), 1e-4) << of.encoding;
    EXPECT_EQ(numbers.at("shift_positions_l2") > 1e-4, of.second)
        << of.encoding << " " << numbers.at("shift_positions_l2");
  }
}

TEST(InspectTest, TheDiagonalLeavesOutTheQueryWithoutAChoice) {
  InsideQuery query = Query(InsideQuery::Kind::kAttention);
  query.heads = {2, 3};
  const Inside inside =
      Inspect(*WithoutProducts("{name: none}"), query, kRow, true);
  const double diagonal = (1 / 2.0 + 1 / 3.0 + 1 / 4.0 + 1 / 5.0) / 4;
  EXPECT_THAT(inside.numbers, ElementsAre(Key("diagonal_l3")));
  EXPECT_NEAR(inside.numbers.at("diagonal_l3"), diagonal, 1e-7);
  EXPECT_NEAR(inside.score, diagonal, 1e-7);
  // The mean, and the second of two heads.
  ASSERT_EQ(inside.maps.size(), 2u);
  for (size_t m = 0; m < 2; ++m) {
    const tasks::InsideMap& map = inside.maps[m];
    EXPECT_EQ(map.source, "full");
    EXPECT_EQ(map.layer, 3);
    EXPECT_EQ(map.head, m == 0 ? 0 : 2);
    ASSERT_EQ(map.size, 5);
    ASSERT_EQ(map.values.size(), 25u);
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 5; ++j) {
        EXPECT_NEAR(map.values[5 * i + j], j <= i ? 1 / (i + 1.0) : 0, 1e-6);
      }
    }
  }
}

TEST(InspectTest, ABiasHasAMapOfItsOwn) {
  InsideQuery query = Query(InsideQuery::Kind::kAttention);
  query.layers = {1, 7};
  const auto model = SmallTransformer(FromText("{name: alibi}"));
  Randomize(model->Parameters());
  const Inside inside = Inspect(*model, query, {3, 1}, true);
  // Two heads have the slopes 2^-4 and 2^-8.
  const double expected = (1 / (1 + std::exp(-std::exp2(-4))) +
                           1 / (1 + std::exp(-std::exp2(-8)))) /
                          2;
  EXPECT_NEAR(inside.numbers.at("position_diagonal_l1"), expected, 1e-7);
  EXPECT_GT(std::abs(inside.numbers.at("diagonal_l1") - expected), 1e-4);
  ASSERT_EQ(inside.maps.size(), 2u);
  EXPECT_EQ(inside.maps[1].source, "position_only");
  EXPECT_NEAR(inside.maps[1].values[3], expected, 1e-6);
}

// Sweeps and comparisons may go by them.
TEST(InspectTest, NumbersAreCalledAsTheCatalogueSays) {
  struct Case {
    InsideQuery::Kind kind;
    const char* task;
    const char* encoding;
  };
  for (const Case& of :
       {Case{InsideQuery::Kind::kShifts, "stability", "{name: rope}"},
        Case{InsideQuery::Kind::kAttention, "attention_map", "{name: alibi}"},
        Case{InsideQuery::Kind::kPositions, "position_similarity",
             "{name: rope}"}}) {
    InsideQuery query = Query(of.kind);
    query.begin = 2;
    query.layers = {2};
    const Inside inside = Inspect(*SmallTransformer(FromText(of.encoding)),
                                  query, kRow, /*with_maps=*/false);
    const std::vector<std::string> names = catalog::MetricNames(
        *catalog::Find(catalog::Kind::kEvaluationTask, of.task), {});
    EXPECT_EQ(inside.numbers.size(), names.size()) << of.task;
    for (const auto& [name, value] : inside.numbers) {
      EXPECT_TRUE(catalog::IsMetricName(names, name)) << name;
    }
  }
}

TEST(InspectTest, RopesPositionsLieAsTheirAnglesInEveryLayer) {
  const auto model = SmallTransformer(FromText("{name: rope}"));
  Randomize(model->Parameters());
  const Inside inside =
      Inspect(*model, Query(InsideQuery::Kind::kPositions), kRow, true);
  ASSERT_EQ(inside.curves.size(), 3u);
  for (int layer = 1; layer <= 3; ++layer) {
    const std::string name = "_l" + std::to_string(layer);
    EXPECT_EQ(inside.numbers.at("state_change" + name), 0);
    EXPECT_EQ(inside.numbers.at("state_norm" + name), 1);
    EXPECT_EQ(inside.curves[layer - 1].layer, layer);
    ASSERT_EQ(inside.curves[layer - 1].values.size(), 5u);
    for (int distance = 0; distance < 5; ++distance) {
      EXPECT_NEAR(inside.curves[layer - 1].values[distance],
                  MeanCosine(distance), 1e-9);
    }
    const tasks::InsideMap& map = inside.maps[layer - 1];
    EXPECT_EQ(map.source, "similarity");
    EXPECT_NEAR(map.values[5 * 1 + 4], MeanCosine(3), 1e-6);
    EXPECT_NEAR(map.values[5 * 4 + 1], MeanCosine(3), 1e-6);
  }
}

TEST(InspectTest, AMapHasTheFirstPositionsAndTheCurveAllDistances) {
  const std::vector<int64_t> row(kMaxMapPositions + 6, 3);
  const Inside inside =
      Inspect(*WithoutProducts("{name: rope}"),
              Query(InsideQuery::Kind::kPositions), row, true);
  ASSERT_EQ(inside.maps.size(), 3u);
  EXPECT_EQ(inside.maps[0].size, kMaxMapPositions);
  EXPECT_EQ(inside.maps[0].values.size(),
            static_cast<size_t>(kMaxMapPositions) * kMaxMapPositions);
  EXPECT_EQ(inside.curves[0].values.size(), row.size());
  EXPECT_NEAR(inside.curves[0].values.back(), MeanCosine(kMaxMapPositions + 5),
              1e-9);
  // Nobody asked for maps.
  EXPECT_THAT(Inspect(*WithoutProducts("{name: rope}"),
                      Query(InsideQuery::Kind::kPositions), row, false)
                  .maps,
              IsEmpty());
}

// Two tokens with even attention, e_1 = 1 and e_2 = z: with G = c they become
// (1 + c) and c/2 + (1 + c/2) z, by equation 7 of the paper.
TEST(InspectTest, TapesPositionsChangeAsEquation7Says) {
  const double c = 0.5;
  const auto model = WithoutProducts("{name: tape}");
  {
    const at::NoGradGuard no_grad;
    for (const auto& named : model->Parameters()) {
      if (named.name == "model.layers.0.self_attn.tape.mix.weight") {
        named.tensor.copy_(at::eye(2, at::kDouble) * c);
      }
    }
  }
  const Inside inside =
      Inspect(*model, Query(InsideQuery::Kind::kPositions), {3, 1}, true);
  const double a = c / 2, b = 1 + c / 2;
  // Sums over the four frequencies, whose numbers have the size 1 at first.
  const double q_21 = 4 * MeanCosine(1);
  const double p_11 = 4 * (1 + c) * (1 + c);
  const double p_21 = (1 + c) * (4 * a + b * q_21);
  const double p_22 = 4 * (a * a + b * b) + 2 * a * b * q_21;
  const double change = (p_11 - 4) + std::abs(p_21 - q_21) + std::abs(p_22 - 4);
  const double size = 4 + std::abs(q_21) + 4;
  EXPECT_NEAR(inside.numbers.at("state_change_l2"), change / size, 1e-9);
  EXPECT_NEAR(inside.numbers.at("state_norm_l2"),
              (std::sqrt(p_11) + std::sqrt(p_22)) / 4, 1e-9);
  EXPECT_NEAR(inside.curves[1].values[0], 1, 1e-9);
  EXPECT_NEAR(inside.curves[1].values[1], p_21 / std::sqrt(p_11 * p_22), 1e-9);
  EXPECT_EQ(inside.numbers.at("state_change_l1"), 0);
}

TEST(InspectTest, WhatAnEncodingDoesNotHaveIsLeftOut) {
  const Inside inside =
      Inspect(*WithoutProducts("{name: alibi}"),
              Query(InsideQuery::Kind::kPositions), kRow, true);
  EXPECT_THAT(inside.numbers, IsEmpty());
  EXPECT_THAT(inside.maps, IsEmpty());
  EXPECT_THAT(inside.curves, IsEmpty());
  EXPECT_EQ(inside.score, 0);
}

TEST(InspectTest, ARowOfOneTokenHasNoDiagonal) {
  const Inside inside =
      Inspect(*WithoutProducts("{name: none}"),
              Query(InsideQuery::Kind::kAttention), {3}, true);
  EXPECT_THAT(inside.numbers, IsEmpty());
  ASSERT_EQ(inside.maps.size(), 1u);
  EXPECT_EQ(inside.maps[0].values, std::vector<float>{1});
}

TEST(InspectTest, InBfloat16NumbersAreRounded) {
  InsideQuery query = Query(InsideQuery::Kind::kAttention);
  const auto model = MakeTransformer(SmallModel(), FromText("{name: rope}"));
  Randomize(model->Parameters());
  const Inside exact = Inspect(*model, query, kRow, false);
  query.precision = "bf16";
  const Inside rounded = Inspect(*model, query, kRow, false);
  EXPECT_NE(exact.score, rounded.score);
  EXPECT_NEAR(exact.score, rounded.score, 0.1);
}

}  // namespace
}  // namespace ordo::model::evaluation
