#include "model/cost/cost.h"

#include <string>
#include <vector>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/resolve_model.h"

namespace ordo::model::cost {
namespace {

using catalog::CostConvention;
using ::ordo::training::v1::Component;
using ::ordo::training::v1::Model;
using ::testing::IsEmpty;

struct Spec {
  Model model;
  Component encoding;
};

// From YAML, resolved.
Spec Resolved(const std::string& model, const std::string& encoding) {
  Spec spec;
  EXPECT_TRUE(
      base::ReadMessage(model, base::TextForm::kYaml, &spec.model).ok());
  EXPECT_TRUE(
      base::ReadMessage(encoding, base::TextForm::kYaml, &spec.encoding).ok());
  catalog::Violations violations;
  catalog::ResolveModel("model", 0, &spec.model, &violations);
  catalog::ResolveEncoding("encoding", spec.model, &spec.encoding, &violations);
  EXPECT_THAT(violations, IsEmpty());
  return spec;
}

PartCost Whole(const Spec& spec, const CostOptions& options) {
  return CountCost({spec.model, spec.encoding}, options).whole;
}

// A row of table 3 of the TAPE paper.
struct Table3Row {
  const char* name;
  const char* encoding;
  int64_t macs;
  int64_t flops;
  // As printed, in G, G and Mi.
  const char* printed;
};

class Table3 : public ::testing::TestWithParam<Table3Row> {};
INSTANTIATE_TEST_SUITE_P(
    Rows, Table3,
    ::testing::Values(
        Table3Row{"Rope", "{name: rope}", 160457293824, 321103331328,
                  "160.46 321.10 154.89"},
        Table3Row{"T5", "{name: t5, params: {per_layer: true}}", 160457293824,
                  321103331328, "160.46 321.10 154.90"},
        Table3Row{"Fire", "{name: fire}", 165691785216, 331974967296,
                  "165.69 331.97 154.90"},
        Table3Row{"Tape", "{name: tape, params: {reading: released}}",
                  180690616320, 365648019456, "180.69 365.65 155.33"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(Table3, HasThePrintedDigits) {
  CostOptions options;
  options.convention = CostConvention::kTapeTable3;
  const PartCost whole =
      Whole(Resolved("{preset: small}", GetParam().encoding), options);
  EXPECT_EQ(whole.macs, GetParam().macs);
  EXPECT_EQ(whole.flops, GetParam().flops);
  char printed[64];
  std::snprintf(printed, sizeof(printed), "%.2f %.2f %.2f",
                static_cast<double>(whole.macs) / 1e9,
                static_cast<double>(whole.flops) / 1e9,
                static_cast<double>(whole.parameters) / (1 << 20));
  EXPECT_STREQ(printed, GetParam().printed);
}

TEST(CostTest, WhatStandsAroundTheBlocksIsCounted) {
  const int64_t n = 1024, width = 768, inner = 3072;
  const PartCost plain =
      Whole(Resolved("{preset: small, mlp: geglu}", "{name: rope}"), {});
  const PartCost more =
      Whole(Resolved("{preset: small, mlp: geglu, output_mlp: true, "
                     "output_projection: true, input_noise: 0.02}",
                     "{name: rope}"),
            {});
  const int64_t macs = n * (3 * width * inner + width * width);
  EXPECT_EQ(more.macs - plain.macs, macs);
  // GELU has 5 operations, the gate one; the noise is added.
  EXPECT_EQ(more.flops - plain.flops, 2 * macs + 6 * n * inner + n * width);
  EXPECT_EQ(more.state_bytes, plain.state_bytes);
  // The last block's norm takes the place of the head's: of 4 operations a
  // value.
  const PartCost after = Whole(
      Resolved("{preset: small, mlp: geglu, post_norm: true}", "{name: rope}"),
      {});
  EXPECT_EQ(plain.flops - after.flops, 4 * n * width);
  EXPECT_EQ(plain.parameters - after.parameters, width);
}

TEST(CostTest, CanonicalTapeLeavesTheLastLayerAlone) {
  const Spec spec = Resolved("{preset: small}", "{name: tape}");
  const Spec rope = Resolved("{preset: small}", "{name: rope}");
  const PartCost tape = Whole(spec, {}), base = Whole(rope, {});
  EXPECT_EQ(tape.parameters - base.parameters, 11 * 38160);
  EXPECT_EQ(tape.state_bytes - base.state_bytes, 11 * 1024 * 768 * 4);
  // One more product with a state as wide as v, the gate once, a map of heads
  // for each token, and attention's mixing.
  const int64_t n = 1024, pairs = n * (n + 1) / 2;
  EXPECT_EQ(tape.macs - base.macs,
            11 * (pairs * 768 + n * (48 * 768 + 144 * (48 + 64) + 144 * 64)));
}

TEST(CostTest, TapeKeepsSharedKeysForEachHead) {
  const Spec all = Resolved("{preset: small}", "{name: tape}");
  const Spec few =
      Resolved("{preset: small, key_value_heads: 4}", "{name: tape}");
  // Of values, 8 heads of 64 channels less in each layer.
  EXPECT_EQ(Whole(all, {}).state_bytes - Whole(few, {}).state_bytes,
            12 * 1024 * 8 * 64 * 4);
}

// The pairs that a query of a model sees, one by one.
int64_t PairsByOne(int64_t tokens, bool causal, int64_t window) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    for (int64_t j = 0; j < tokens; ++j) {
      const int64_t away = i > j ? i - j : j - i;
      if (causal && j > i) continue;
      if (window > 0 && away >= window) continue;
      ++pairs;
    }
  }
  return pairs;
}

TEST(CostTest, AttentionMeetsThePairsThatAreSeen) {
  const struct {
    const char* model;
    bool causal;
    int64_t window;
  } cases[] = {{"{sliding_window: 0}", true, 0},
               {"{sliding_window: 3}", true, 3},
               {"{sliding_window: 99}", true, 99},
               {"{causal: false}", false, 0},
               {"{causal: false, sliding_window: 4}", false, 4}};
  for (const auto& one : cases) {
    const Spec spec = Resolved(one.model, "{name: none}");
    CostOptions options;
    options.tokens = 11;
    const Cost cost = CountCost({spec.model, spec.encoding}, options);
    const int64_t width = spec.model.width();
    const int64_t linear =
        11 * width * (4 * width + 3 * spec.model.mlp_width());
    EXPECT_EQ(cost.parts[1].macs,
              linear + 2 * PairsByOne(11, one.causal, one.window) * width)
        << one.model;
  }
}

TEST(CostTest, KeysAndValuesAreKeptForEachKeyHead) {
  for (const int key_heads : {1, 2, 4}) {
    const Spec spec = Resolved(
        "{key_value_heads: " + std::to_string(key_heads) + "}", "{name: none}");
    CostOptions options;
    options.tokens = 11;
    options.bytes_per_value = 4;
    // Heads of 32.
    EXPECT_EQ(
        CountCost({spec.model, spec.encoding}, options).parts[1].state_bytes,
        11 * 2 * key_heads * 32 * 4);
  }
}

TEST(CostTest, TrainingTakesThreePassesOfEachRow) {
  const Spec spec = Resolved("{}", "{name: rope}");
  CostOptions options;
  options.tokens = 16;
  EXPECT_EQ(TrainingFlops({spec.model, spec.encoding}, 16, 5),
            15.0 * static_cast<double>(Whole(spec, options).flops));
}

TEST(CostTest, PartsAddUpToTheWhole) {
  const Spec spec = Resolved("{}", "{name: cope, params: {gates: sep_keys}}");
  for (const auto convention : Conventions()) {
    CostOptions options;
    options.convention = convention;
    const Cost cost = CountCost({spec.model, spec.encoding}, options);
    PartCost sum;
    for (const PartCost& part : cost.parts) {
      sum.parameters += part.parameters;
      sum.macs += part.macs;
      sum.flops += part.flops;
      sum.state_bytes += part.state_bytes;
    }
    EXPECT_EQ(sum.parameters, cost.whole.parameters);
    EXPECT_EQ(sum.macs, cost.whole.macs);
    EXPECT_EQ(sum.flops, cost.whole.flops);
    EXPECT_EQ(sum.state_bytes, cost.whole.state_bytes);
    EXPECT_GE(sum.flops, 2 * sum.macs);
  }
}

TEST(CostTest, WhatEncodingsAddIsCountedInTheirConvention) {
  const auto extra = [](const char* encoding, CostConvention convention) {
    CostOptions options;
    options.convention = convention;
    options.tokens = 16;
    const PartCost with = Whole(Resolved("{}", encoding), options);
    const PartCost without = Whole(Resolved("{}", "{name: none}"), options);
    return std::vector<int64_t>{with.macs - without.macs,
                                with.flops - without.flops};
  };
  // Four layers, four heads of 32; q and k; the table once.
  EXPECT_EQ(extra("{name: rope}", CostConvention::kModel),
            (std::vector<int64_t>{0, 4 * 3 * 16 * 8 * 32 + 16 * 16 * 3}));
  EXPECT_EQ(extra("{name: rope}", CostConvention::kTapeTable3),
            (std::vector<int64_t>{0, 0}));
  const int64_t pairs = 16 * 17 / 2;
  // A product once, which each of four layers adds.
  EXPECT_EQ(extra("{name: alibi}", CostConvention::kModel),
            (std::vector<int64_t>{0, (1 + 4) * pairs * 4}));
  // A product of q with each of 65 positions.
  const int64_t macs = 4 * 16 * 4 * 65 * 32;
  EXPECT_EQ(extra("{name: cope, params: {max_position: 65}}",
                  CostConvention::kTapeTable3),
            (std::vector<int64_t>{macs, 2 * macs}));
  // In a pattern only its layers add it.
  EXPECT_EQ(extra("{name: per_layer, with: [{name: alibi}, {name: none}]}",
                  CostConvention::kModel),
            (std::vector<int64_t>{0, (1 + 2) * pairs * 4}));
}

}  // namespace
}  // namespace ordo::model::cost
