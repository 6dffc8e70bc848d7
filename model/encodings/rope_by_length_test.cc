#include <cmath>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
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
using transformer::Cache;
using transformer::ForwardOptions;

at::Tensor Scores(const std::string& yaml, const Attention& attention) {
  return Probe(FromText(yaml), {1, 16, 2}).Scores(attention);
}

const char* const kStretched[] = {
    "{name: dynamic_linear, params: {trained_length: 4}}",
    "{name: dynamic_ntk, params: {trained_length: 4, factor: 2}}",
    "{name: longrope, params: {trained_length: 4, factor: 8, long_factors: [1, "
    "2, 4, 8]}}",
};

TEST(RopeByLengthTest, UpToTheTrainedLengthItIsRope) {
  const Attention attention = RandomAttention(2, 2, 6, 8);
  const at::Tensor rope = Scores("{name: rope}", attention);
  for (const std::string name : {"dynamic_linear", "dynamic_ntk", "longrope"}) {
    const std::string yaml = "{name: " + name + ", params: {trained_length: ";
    EXPECT_LT(MaxDifference(Scores(yaml + "6}}", attention), rope), 1e-14);
    if (name == "longrope") continue;
    EXPECT_GT(MaxDifference(Scores(yaml + "5}}", attention), rope), 1e-3);
  }
}

// Six tokens on four: every distance counts for two thirds.
TEST(RopeByLengthTest, DynamicLinearSqueezesAllPositions) {
  const Attention attention = RandomAttention(1, 2, 6, 8);
  EXPECT_LT(
      MaxDifference(Scores(kStretched[0], attention),
                    Scores("{name: linear, params: {factor: 1.5}}", attention)),
      1e-13);
}

// Eight tokens on four: sum_f cos(3/2 theta_f), theta_f = 10000^(-f/4).
TEST(RopeByLengthTest, ItShowsThePositionsThatQueriesTurnBy) {
  const auto transformer = MakeTransformer(
      SmallModel(),
      FromText("{name: dynamic_linear, params: {trained_length: 4}}"));
  double expected = 0;
  for (int f = 0; f < 4; ++f) {
    expected += std::cos(1.5 * std::pow(10000.0, -f / 4.0));
  }
  ForwardOptions options;
  int num_seen = 0;
  options.on_layer = [&](const transformer::LayerView& view) {
    const at::Tensor state = view.state.flatten(0, -3)[0];
    EXPECT_NEAR((state[5] * state[2]).sum().item<double>(), expected, 1e-5);
    ++num_seen;
  };
  Logits(*transformer, Integers({1, 8}, 11, "tokens"), options);
  EXPECT_EQ(num_seen, 3);
}

TEST(RopeByLengthTest, DynamicNtkStretchesTheBaseByTheLength) {
  const Attention attention = RandomAttention(1, 2, 6, 8);
  // 2 * 6 / 4 - 1 = 2.
  EXPECT_LT(
      MaxDifference(Scores(kStretched[1], attention),
                    Scores("{name: ntk, params: {factor: 2}}", attention)),
      1e-13);
}

TEST(RopeByLengthTest, LongRopesFactorEntersTwice) {
  const Attention attention = RandomAttention(1, 2, 4, 8);
  const double factor = 1 + std::log(8.0) / std::log(4.0);
  EXPECT_LT(MaxDifference(Scores(kStretched[2], attention),
                          Scores("{name: rope}", attention) * factor),
            1e-13);
}

// The length is the largest position id's, not the number of tokens.
TEST(RopeByLengthTest, PositionIdsSayTheLength) {
  Attention attention = RandomAttention(1, 2, 3, 8);
  attention.positions_BT = Longs({1, 3}, {0, 5, 2});
  EXPECT_LT(
      MaxDifference(Scores(kStretched[0], attention),
                    Scores("{name: linear, params: {factor: 1.5}}", attention)),
      1e-13);
}

// Each row of a batch is as long as it is.
TEST(RopeByLengthTest, PaddingCountsForNothing) {
  for (const char* yaml : kStretched) {
    const auto transformer = model::testing::SmallTransformer(FromText(yaml));
    const at::Tensor row = Integers({1, 5}, 11, "row");
    const at::Tensor padding = Longs({1, 3}, {0, 0, 0});
    ForwardOptions options;
    options.attention_mask =
        Longs({2, 8}, {1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1});
    const at::Tensor batch =
        at::cat({at::cat({row, padding}, 1), Integers({1, 8}, 11, "long")}, 0);
    const at::Tensor logits = Logits(*transformer, batch, options);
    EXPECT_LT(MaxDifference(logits.narrow(0, 0, 1).narrow(1, 0, 5),
                            Logits(*transformer, row)),
              1e-13)
        << yaml;
    EXPECT_LT(MaxDifference(logits.narrow(0, 1, 1),
                            Logits(*transformer, batch.narrow(0, 1, 1))),
              1e-13)
        << yaml;
  }
}

// With one layer, what the cache holds does not depend on the length.
TEST(RopeByLengthTest, ACacheGoesOnAcrossTheTrainedLength) {
  auto model = SmallModel();
  model.set_layers(1);
  parameters::ParameterOptions in_double;
  in_double.dtype = at::kDouble;
  for (const char* yaml : kStretched) {
    const auto transformer = MakeTransformer(model, FromText(yaml), in_double);
    const at::Tensor tokens = Integers({2, 8}, 11, "tokens");
    Cache cache;
    ForwardOptions options;
    options.cache = &cache;
    for (int64_t length = 1; length <= 8; ++length) {
      const at::Tensor last =
          Logits(*transformer, tokens.narrow(1, length - 1, 1), options);
      EXPECT_LT(
          MaxDifference(last, Logits(*transformer, tokens.narrow(1, 0, length))
                                  .narrow(1, length - 1, 1)),
          1e-12)
          << yaml << " " << length;
    }
  }
}

// A long row leaves nothing behind: a short one after it is as before.
TEST(RopeByLengthTest, ALongRowLeavesNothingBehind) {
  for (const char* yaml : kStretched) {
    const auto transformer = model::testing::SmallTransformer(FromText(yaml));
    const at::Tensor row = Integers({1, 3}, 11, "row");
    const at::Tensor before = Logits(*transformer, row);
    Logits(*transformer, Integers({1, 9}, 11, "long"));
    EXPECT_EQ(MaxDifference(Logits(*transformer, row), before), 0.0);
  }
}

}  // namespace
}  // namespace ordo::model::encodings
