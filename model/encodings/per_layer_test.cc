#include <memory>

#include "ATen/core/grad_mode.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/encodings/registry.h"
#include "model/encodings/testing/examples.h"
#include "model/encodings/testing/probe.h"
#include "model/testing/models.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using base::testing::StatusIs;
using model::testing::Integers;
using model::testing::Logits;
using model::testing::MaxDifference;
using model::testing::SameBits;
using model::testing::SmallTransformer;
using ::testing::AllOf;
using testing::Attention;
using testing::FromText;
using ::testing::HasSubstr;
using testing::Probe;
using testing::RandomAttention;

constexpr int kLayers = 5;

ModelShape Shape() { return {kLayers, 16, 2}; }

std::vector<std::string> Names(const Probe& probe) {
  std::vector<std::string> names;
  for (const auto& parameter : probe.parameters().all()) {
    names.push_back(parameter.name);
  }
  return names;
}

at::Tensor ScoresIn(const Probe& probe, int layer) {
  Attention attention = RandomAttention(1, 2, 6, 8);
  attention.layer = layer;
  return probe.Scores(attention);
}

TEST(PerLayerTest, ThePatternGoesRoundTheLayers) {
  const Probe pattern(
      FromText("{name: per_layer, with: [{name: rope}, {name: alibi}, {name: "
               "none}]}"),
      Shape());
  const std::vector<std::string> expected = {"rope", "alibi", "none", "rope",
                                             "alibi"};
  for (int layer = 0; layer < kLayers; ++layer) {
    const Probe own(FromText("{name: " + expected[layer] + "}"), Shape());
    EXPECT_TRUE(SameBits(ScoresIn(pattern, layer), ScoresIn(own, layer)))
        << layer;
  }
}

TEST(PerLayerTest, APatternOfOneIsThatEncoding) {
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  for (const std::string name : {"rope", "sandwich", "none"}) {
    EXPECT_TRUE(SameBits(
        Logits(*SmallTransformer(
                   FromText("{name: per_layer, with: [{name: " + name + "}]}")),
               tokens),
        Logits(*SmallTransformer(FromText("{name: " + name + "}")), tokens)))
        << name;
  }
}

TEST(PerLayerTest, EqualEncodingsShareWhatLayersShare) {
  const Probe equal(
      FromText("{name: per_layer, with: [{name: t5}, {name: none}, {name: t5, "
               "params: {buckets: 32}}]}"),
      Shape());
  EXPECT_EQ(Names(equal),
            (std::vector<std::string>{"model.per_layer.0.t5.weight"}));
}

TEST(PerLayerTest, DifferentEncodingsHaveTheirOwn) {
  const Probe different(
      FromText("{name: per_layer, with: [{name: t5}, {name: t5, params: "
               "{buckets: 8}}]}"),
      Shape());
  EXPECT_EQ(Names(different),
            (std::vector<std::string>{"model.per_layer.0.t5.weight",
                                      "model.per_layer.1.t5.weight"}));
  EXPECT_EQ(different.Parameter("model.per_layer.1.t5.weight").size(0), 8);
}

TEST(PerLayerTest, OnlyLayersThatActHaveParameters) {
  const Probe fire(
      FromText("{name: per_layer, with: [{name: rope}, {name: fire}]}"),
      Shape());
  for (const std::string& name : Names(fire)) {
    EXPECT_TRUE(name.find("layers.1.") != std::string::npos ||
                name.find("layers.3.") != std::string::npos)
        << name;
  }
  EXPECT_EQ(fire.parameters().all().size(), 12u);
}

// Layers that need no keys of their own keep empty ones beside those that do.
TEST(PerLayerTest, LayersWithAndWithoutExtraKeysStandTogether) {
  const Probe pattern(
      FromText("{name: per_layer, with: [{name: rope}, {name: cope, params: "
               "{gates: sep_keys}}]}"),
      Shape());
  ASSERT_GT(pattern.encoding().NumExtraKeys(), 0);
  for (const int layer : {0, 2}) {
    EXPECT_TRUE(
        SameBits(ScoresIn(pattern, layer),
                 ScoresIn(Probe(FromText("{name: rope}"), Shape()), layer)));
  }
}

// Who splits them (sum.h) counts on one number for all layers.
TEST(PerLayerTest, EveryLayerHasAsManyExtraKeys) {
  const Probe pattern(
      FromText("{name: per_layer, with: [{name: rope}, {name: cope, params: "
               "{gates: sep_keys}}]}"),
      Shape());
  const Attention attention = RandomAttention(1, 2, 6, 8);
  const Pass pass;
  const Carried carried{{}, {{}, {}}};
  for (int layer = 0; layer < kLayers; ++layer) {
    EXPECT_EQ(
        pattern.encoding()
            .ExtraKeys({layer, pass, carried, attention.hidden_BTC,
                        attention.q_BHTD, attention.k_BHTD, attention.v_BHTD})
            .size(),
        1u)
        << layer;
  }
}

// Its layers alone have a term of the values; the others' is undefined.
TEST(PerLayerTest, LayersWithAndWithoutATermOfTheValuesStandTogether) {
  const std::string shaw = "{name: shaw, params: {values: true}}";
  Probe pattern(
      FromText("{name: per_layer, with: [{name: rope}, " + shaw + "]}"),
      Shape());
  Probe own(FromText(shaw), Shape());
  const Probe rope(FromText("{name: rope}"), Shape());
  pattern.Randomize();
  const at::NoGradGuard no_grad;
  for (const std::string& name : Names(pattern)) {
    own.Parameter(name).copy_(pattern.Parameter(name));
  }
  EXPECT_EQ(Names(pattern).size(), 4u);
  EXPECT_TRUE(pattern.encoding().HasValueTerm());
  Attention attention = RandomAttention(1, 2, 6, 8);
  for (int layer = 0; layer < kLayers; ++layer) {
    attention.layer = layer;
    EXPECT_TRUE(SameBits(pattern.Attended(attention),
                         (layer % 2 == 0 ? rope : own).Attended(attention)))
        << layer;
  }
}

// The same within a sum, all of whose terms a layer may lack.
TEST(PerLayerTest, ASumWithoutATermOfTheValuesInALayerAddsNone) {
  const at::Tensor tokens = Integers({2, 6}, 11, "tokens");
  const std::string pattern =
      "{name: per_layer, with: [{name: rope}, {name: shaw, params: {values: "
      "true}}]}";
  const auto alone = SmallTransformer(FromText(pattern));
  const auto in_sum = SmallTransformer(
      FromText("{name: random_positions, params: {eval: arange}, with: [" +
               pattern + "]}"));
  model::testing::Randomize(alone->Parameters());
  model::testing::Randomize(in_sum->Parameters());
  EXPECT_TRUE(SameBits(Logits(*alone, tokens), Logits(*in_sum, tokens)));
}

TEST(PerLayerTest, EachLayerShowsThePositionsOfItsOwnEncoding) {
  const auto transformer = SmallTransformer(
      FromText("{name: per_layer, with: [{name: alibi}, {name: rope}]}"));
  std::vector<bool> has_state;
  std::vector<bool> has_bias;
  transformer::ForwardOptions options;
  options.on_layer = [&](const transformer::LayerView& view) {
    has_state.push_back(view.state.defined());
    has_bias.push_back(view.of_bias_BHTS.defined());
  };
  Logits(*transformer, Integers({1, 4}, 11, "tokens"), options);
  EXPECT_EQ(has_state, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(has_bias, (std::vector<bool>{true, false, true}));
}

TEST(PerLayerTest, WhatCannotBeInOneLayerIsRefusedByName) {
  const auto status = [](const std::string& with) {
    parameters::ParameterSet parameters({});
    return Make(FromText("{name: per_layer, with: [" + with + "]}"), {2, 16, 2},
                &parameters)
        .status();
  };
  for (const std::string name :
       {"tape", "learned", "random_rope", "per_layer"}) {
    EXPECT_THAT(status("{name: rope}, {name: " + name + "}"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("encoding.with[1].name"),
                               HasSubstr("per_layer cannot be combined with '" +
                                         name))));
  }
  EXPECT_THAT(status(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                   HasSubstr("needs at least 1")));
  EXPECT_THAT(status("{name: rope}, {name: none}, {name: t5}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("3 encodings for 2 layers")));
}

}  // namespace
}  // namespace ordo::model::encodings
