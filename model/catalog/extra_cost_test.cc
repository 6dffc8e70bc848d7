#include <ostream>
#include <string>
#include <vector>

#include "base/yaml/text_form.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

// What encodings add to a pass, counted by hand.

namespace ordo::model::catalog {

bool operator==(const ExtraCost& a, const ExtraCost& b) {
  return a.macs == b.macs && a.flops == b.flops && a.state == b.state;
}

std::ostream& operator<<(std::ostream& out, const ExtraCost& cost) {
  return out << "macs " << cost.macs << ", flops " << cost.flops << ", state "
             << cost.state;
}

namespace {

using ordo::training::v1::Component;

// Four layers of 16 channels; 4 heads of 6, so 24 channels of all heads; 2 key
// heads, so 12 channels of keys.
constexpr ModelShape kShape{4, 16, 4, 2, true, 6};

// 10 tokens: 55 pairs under the causal mask, 100 without; of all heads 220 and
// 400 logits.
ExtraCost Of(const std::string& yaml, int layer,
             CostConvention convention = CostConvention::kModel,
             bool causal = true) {
  Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok());
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_TRUE(violations.empty()) << violations[0].description;
  ModelShape shape = kShape;
  shape.causal = causal;
  CostQuery query;
  query.convention = convention;
  query.layer = layer;
  query.tokens = 10;
  query.pairs = causal ? 55 : 100;
  return CountCost(component, shape, query);
}

ExtraCost WithoutMask(const std::string& yaml, int layer) {
  return Of(yaml, layer, CostConvention::kModel, /*causal=*/false);
}

TEST(ExtraCostTest, NoEncodingCostsNothing) {
  for (const int layer : {kInputLayer, 0, 3}) {
    EXPECT_EQ(Of("{name: none}", layer), (ExtraCost{0, 0, 0}));
  }
}

// Ten tokens, three pairs of channels: an angle, a sine and a cosine each; then
// two products and a sum for 6 channels of 4 heads of q and 2 of k.
TEST(ExtraCostTest, RopeMakesItsTableOnceAndTurnsInEachLayer) {
  EXPECT_EQ(Of("{name: rope}", kInputLayer), (ExtraCost{0, 10 * 3 * 3}));
  for (const int layer : {0, 3}) {
    EXPECT_EQ(Of("{name: rope}", layer), (ExtraCost{0, 3 * 10 * (4 + 2) * 6}));
  }
}

TEST(ExtraCostTest, ThePapersTableLeavesSingleValuesOut) {
  EXPECT_EQ(Of("{name: rope}", 0, CostConvention::kTapeTable3), ExtraCost{});
}

TEST(ExtraCostTest, TapeKeepsItsStateOfEachToken) {
  // d values of each of four heads, in all layers but the last; shared keys of
  // the two other heads in all.
  EXPECT_EQ(Of("{name: tape}", 0).state, 24 + 12);
  EXPECT_EQ(Of("{name: tape}", 3).state, 12);
}

// Gates of their own: each token's v is kept once more.
TEST(ExtraCostTest, WhatStandsBesideCountsWithItsProductsAndState) {
  const std::string cope =
      "{name: cope, params: {gates: values, max_position: 5}}";
  const ExtraCost alone = Of(cope, 1), rope = Of("{name: rope}", 1);
  EXPECT_EQ(alone.state, 12);
  EXPECT_GT(alone.macs, 0);
  EXPECT_EQ(Of("{name: rope, with: [" + cope + "]}", 1),
            (ExtraCost{alone.macs, alone.flops + rope.flops, 12}));
  // A bias for each channel of q and k besides.
  EXPECT_EQ(
      Of("{name: rope_bias, with: [" + cope + "]}", 1),
      (ExtraCost{alone.macs, alone.flops + rope.flops + 10 * (24 + 12), 12}));
}

TEST(ExtraCostTest, ABiasThatLayersShareIsMadeOnceAndAddedInEach) {
  const struct {
    const char* encoding;
    // Operations on each logit.
    int64_t made;
  } cases[] = {// Slope times distance.
               {"{name: alibi}", 1},
               // r2 times the distance, one more, the logarithm, r1 times it.
               {"{name: kerple_log}", 4},
               // A power, r1 times it.
               {"{name: kerple_power}", 2},
               // Looked up.
               {"{name: t5}", 0},
               {"{name: window_bias_2d}", 0}};
  for (const auto& one : cases) {
    EXPECT_EQ(Of(one.encoding, kInputLayer), (ExtraCost{0, one.made * 220}))
        << one.encoding;
    for (const int layer : {0, 3}) {
      EXPECT_EQ(Of(one.encoding, layer), (ExtraCost{0, 220})) << one.encoding;
    }
    EXPECT_EQ(Of(one.encoding, 0, CostConvention::kTapeTable3), ExtraCost{})
        << one.encoding;
  }
}

TEST(ExtraCostTest, ABiasOfEachLayerIsMadeThere) {
  const struct {
    const char* name;
    int64_t made;
  } cases[] = {
      {"kerple_log", 4}, {"kerple_power", 2}, {"t5", 0}, {"window_bias_2d", 0}};
  for (const auto& one : cases) {
    const std::string encoding =
        "{name: " + std::string(one.name) + ", params: {per_layer: true}}";
    EXPECT_EQ(Of(encoding, kInputLayer), ExtraCost{}) << one.name;
    EXPECT_EQ(Of(encoding, 1), (ExtraCost{0, (one.made + 1) * 220}))
        << one.name;
  }
}

TEST(ExtraCostTest, T5WithoutTheDivisionMultipliesQ) {
  const std::string t5 = "{name: t5, params: {scale: none}}";
  EXPECT_EQ(Of(t5, kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(t5, 1), (ExtraCost{0, 220 + 10 * 24}));
}

// An MLP 1 -> 8 -> 4 of each pair. A product, a sum, a logarithm for the pair's
// distance and its division; the same three for the query's position, and a
// small number more; 8 biases and 8 activations; 4 biases and 4 sums with the
// logits.
TEST(ExtraCostTest, FireRunsAnMlpForEachPair) {
  const std::string fire = "{name: fire, params: {mlp_width: 8}}";
  const int64_t macs = 55 * (8 + 8 * 4);
  EXPECT_EQ(Of(fire, kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(fire, 1),
            (ExtraCost{macs, 55 * 4 + 10 * 4 + 55 * (8 + 8) + 2 * 220}));
  EXPECT_EQ(Of(fire, 1, CostConvention::kTapeTable3),
            (ExtraCost{macs, 55 * 8}));
}

// Three frequencies at 10 queries and 10 keys, an angle, a sine and a cosine
// each; their product for each pair, and its division in each head.
TEST(ExtraCostTest, SandwichMakesItsSumsOnce) {
  const std::string sandwich = "{name: sandwich, params: {width: 6}}";
  EXPECT_EQ(Of(sandwich, kInputLayer),
            (ExtraCost{55 * 6, 2 * 10 * 3 * 3 + 220}));
  EXPECT_EQ(Of(sandwich, 2), (ExtraCost{0, 220}));
}

TEST(ExtraCostTest, WhatIsAddedToTheInputIsAddedOnce) {
  for (const char* name :
       {"abacus", "axial", "grid_learned", "learned", "random_learned"}) {
    const std::string encoding = "{name: " + std::string(name) + "}";
    EXPECT_EQ(Of(encoding, kInputLayer), (ExtraCost{0, 10 * 16})) << name;
    EXPECT_EQ(Of(encoding, 0), ExtraCost{}) << name;
  }
  // 8 angles, 16 waves and 16 sums for each token.
  for (const char* name :
       {"grid_sinusoidal", "random_sinusoidal", "sinusoidal"}) {
    const std::string encoding = "{name: " + std::string(name) + "}";
    EXPECT_EQ(Of(encoding, kInputLayer), (ExtraCost{0, 10 * (8 + 16 + 16)}))
        << name;
    EXPECT_EQ(Of(encoding, 0), ExtraCost{}) << name;
  }
}

// 4 of the 6 channels of a head turn: two pairs.
std::string Turning(const std::string& name, const std::string& more = "") {
  return "{name: " + name + ", params: {partial: 0.7" + more + "}}";
}

TEST(ExtraCostTest, AFactorOfQAndKIsInTheTable) {
  EXPECT_EQ(Of(Turning("rope"), kInputLayer), (ExtraCost{0, 10 * 2 * 3}));
  EXPECT_EQ(Of(Turning("yarn"), kInputLayer), (ExtraCost{0, 10 * 2 * 5}));
  for (const char* name : {"llama3", "rope", "rope_2d", "yarn"}) {
    EXPECT_EQ(Of(Turning(name), 0), (ExtraCost{0, 3 * 10 * (4 + 2) * 4}))
        << name;
  }
}

TEST(ExtraCostTest, ByLengthKeysOfAllHeadsTurnByATableOfTheirOwn) {
  for (const char* name : {"dynamic_linear", "dynamic_ntk"}) {
    EXPECT_EQ(Of(Turning(name), kInputLayer), (ExtraCost{0, 2 * 10 * 2 * 3}))
        << name;
    EXPECT_EQ(Of(Turning(name), 0), (ExtraCost{0, 3 * 10 * (4 + 4) * 4}))
        << name;
  }
  EXPECT_EQ(Of(Turning("longrope"), kInputLayer),
            (ExtraCost{0, 2 * 10 * 2 * 5}));
  EXPECT_EQ(Of(Turning("longrope"), 0), (ExtraCost{0, 3 * 10 * (4 + 4) * 4}));
}

// The pair's angle and two waves; its factor, an exponential of a product; then
// two values for q and two for k.
TEST(ExtraCostTest, XposHasItsFactorsInTheTables) {
  EXPECT_EQ(Of(Turning("xpos"), kInputLayer), (ExtraCost{0, 10 * 2 * 9}));
  EXPECT_EQ(Of(Turning("xpos"), 1), (ExtraCost{0, 3 * 10 * (4 + 2) * 4}));
}

// Two tables within the window and two past it, at places that take three
// operations; q and k of four heads turn for each of two products.
TEST(ExtraCostTest, ReRopeTurnsAndMultipliesTwice) {
  for (const char* name : {"leaky_rerope", "rerope"}) {
    const std::string encoding = Turning(name, ", window: 4");
    EXPECT_EQ(Of(encoding, kInputLayer),
              (ExtraCost{0, 4 * 10 * 2 * 3 + 3 * 10}))
        << name;
    EXPECT_EQ(Of(encoding, 1),
              (ExtraCost{55 * 24, 2 * 3 * 10 * (4 + 4) * 4 + 220}))
        << name;
  }
}

TEST(ExtraCostTest, ReRopeHasAThirdProductForKeysFarAfterTheQuery) {
  const std::string encoding = Turning("rerope", ", window: 4");
  EXPECT_EQ(WithoutMask(encoding, kInputLayer),
            (ExtraCost{0, 5 * 10 * 2 * 3 + 5 * 10}));
  EXPECT_EQ(WithoutMask(encoding, 1),
            (ExtraCost{2 * 100 * 24, 3 * 3 * 10 * (4 + 4) * 4 + 2 * 400}));
  // No key is as far.
  const std::string wide = Turning("rerope", ", window: 10");
  EXPECT_EQ(WithoutMask(wide, kInputLayer),
            (ExtraCost{0, 4 * 10 * 2 * 3 + 3 * 10}));
  EXPECT_EQ(WithoutMask(wide, 1),
            (ExtraCost{100 * 24, 2 * 3 * 10 * (4 + 4) * 4 + 400}));
}

// A sum for 24 channels of q and 12 of k, and rope or what stands with it.
TEST(ExtraCostTest, BiasesOfQAndKLeaveTheTurningToOne) {
  const ExtraCost layer = {0, 10 * (24 + 12) + 3 * 10 * (4 + 2) * 4};
  const std::string alone = Turning("rope_bias");
  EXPECT_EQ(Of(alone, kInputLayer), (ExtraCost{0, 10 * 2 * 3}));
  EXPECT_EQ(Of(alone, 1), layer);
  const std::string over = "{name: rope_bias, with: [" + Turning("xpos") + "]}";
  EXPECT_EQ(Of(over, kInputLayer), (ExtraCost{0, 10 * 2 * 9}));
  EXPECT_EQ(Of(over, 1), layer);
  const std::string under =
      "{name: rope, params: {partial: 0.7}, with: [{name: rope_bias}]}";
  EXPECT_EQ(Of(under, kInputLayer), (ExtraCost{0, 10 * 2 * 3}));
  EXPECT_EQ(Of(under, 1), layer);
}

// Matrices of 10 tokens and 2 key heads, two axes: two products and a sum for
// each value; then a product and a sum of each with 6 heads' channels.
TEST(ExtraCostTest, LiereMeetsAMatrixOfEachTokenAndBlock) {
  EXPECT_EQ(Of("{name: liere}", kInputLayer), ExtraCost{});
  // Three blocks of 2 by 2.
  EXPECT_EQ(Of("{name: liere, params: {block: 2, axes: 2}}", 1),
            (ExtraCost{0, 10 * 2 * 3 * 4 * 3 + 2 * 10 * 6 * 3 * 4}));
  // One of 6 by 6, one axis.
  EXPECT_EQ(Of("{name: liere}", 1),
            (ExtraCost{0, 10 * 2 * 36 + 2 * 10 * 6 * 36}));
}

// 4 rows, or 7 where keys stand after the query, meet q; then each logit's
// value is divided by sqrt(d) and added.
TEST(ExtraCostTest, ShawMeetsEachRowOfItsTables) {
  const auto shaw = [](const std::string& more) {
    return "{name: shaw, params: {max_distance: 3" + more + "}}";
  };
  EXPECT_EQ(Of(shaw(""), kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(shaw(""), 1), (ExtraCost{10 * 24 * 4, 2 * 220}));
  EXPECT_EQ(WithoutMask(shaw(""), 1), (ExtraCost{10 * 24 * 7, 2 * 400}));
  // Weights are summed for each row, which then meets them, and all is added.
  EXPECT_EQ(Of(shaw(", values: true"), 1),
            (ExtraCost{2 * 10 * 24 * 4, 2 * 220 + 220 + 10 * 24}));
  // Far pairs are multiplied by 0, in either term.
  EXPECT_EQ(Of(shaw(", unseen: none"), 1), (ExtraCost{10 * 24 * 4, 3 * 220}));
  EXPECT_EQ(Of(shaw(", unseen: none, values: true"), 1),
            (ExtraCost{2 * 10 * 24 * 4, 4 * 220 + 220 + 10 * 24}));
}

TEST(ExtraCostTest, HuangsNumbersMultiplyEachLogit) {
  for (const char* name : {"{name: huang1}", "{name: huang2}"}) {
    EXPECT_EQ(Of(name, kInputLayer), ExtraCost{}) << name;
    EXPECT_EQ(Of(name, 1), (ExtraCost{0, 220})) << name;
  }
}

// Each row weighs q and has a product, the first in the place of the plain one,
// the others added to it.
TEST(ExtraCostTest, HuangsThirdHasAProductForEachRowInUse) {
  const std::string three = "{name: huang3, params: {max_distance: 3}}";
  EXPECT_EQ(Of(three, kInputLayer), ExtraCost{});
  // Distances 0, 1 and 2 or more.
  EXPECT_EQ(Of(three, 1), (ExtraCost{2 * 55 * 24, 3 * 10 * 24 + 2 * 220}));
  // And two behind the query.
  EXPECT_EQ(WithoutMask(three, 1),
            (ExtraCost{4 * 100 * 24, 5 * 10 * 24 + 4 * 400}));
  // A row's 10 distances, or 19.
  const std::string wide = "{name: huang3, params: {max_distance: 16}}";
  EXPECT_EQ(Of(wide, 1), (ExtraCost{9 * 55 * 24, 10 * 10 * 24 + 9 * 220}));
  EXPECT_EQ(WithoutMask(wide, 1),
            (ExtraCost{18 * 100 * 24, 19 * 10 * 24 + 18 * 400}));
}

// 5 rows meet q and k; the two are added, divided and added to the logit.
TEST(ExtraCostTest, HuangsFourthMeetsRowsOnBothSides) {
  const std::string four = "{name: huang4, params: {max_distance: 3}}";
  EXPECT_EQ(Of(four, kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(four, 1), (ExtraCost{2 * 10 * 24 * 5, 3 * 220}));
}

// w times the distance, v less it, softplus (exponential, sum, logarithm),
// a difference, an exponential; the activation, and the product of both.
TEST(ExtraCostTest, DaTransformerMakesAWeightForEachLogit) {
  EXPECT_EQ(Of("{name: da_transformer}", kInputLayer), ExtraCost{});
  EXPECT_EQ(Of("{name: da_transformer}", 1), (ExtraCost{0, 9 * 220}));
}

// Three frequencies at 10 queries and 10 keys. Then two sums with q, two
// products and a sum for each of a head's 6 waves, a second product with the
// keys, and its sum with the first.
TEST(ExtraCostTest, TenerMeetsWavesOfTheDistance) {
  EXPECT_EQ(Of("{name: tener}", kInputLayer), (ExtraCost{0, 2 * 10 * 3 * 3}));
  EXPECT_EQ(Of("{name: tener}", 1),
            (ExtraCost{55 * 24, 2 * 10 * 24 + 3 * 10 * 24 + 220}));
}

// Eight frequencies, as wide as the model. u meets k; v is added to q, which
// meets W_r, its waves, as tener's, and those of the keys; of each logit both
// terms are added, divided and added.
TEST(ExtraCostTest, TransformerXlMeetsProjectedWavesOfTheModelsWidth) {
  const std::string xl = "{name: transformer_xl}";
  EXPECT_EQ(Of(xl, kInputLayer), (ExtraCost{0, 2 * 10 * 8 * 3}));
  const int64_t macs = 10 * 24 + 10 * 24 * 16,
                flops = 10 * 24 + 3 * 10 * 4 * 16;
  EXPECT_EQ(Of(xl, 1), (ExtraCost{macs + 55 * 4 * 16, flops + 3 * 220}));
  // The waves at the clamp.
  const std::string clamped =
      "{name: transformer_xl, params: {clamp_length: 5}}";
  EXPECT_EQ(Of(clamped, 1),
            (ExtraCost{macs + 55 * 4 * 16 + 10 * 4 * 16, flops + 3 * 220}));
  EXPECT_EQ(
      WithoutMask(clamped, 1),
      (ExtraCost{macs + 100 * 4 * 16 + 2 * 10 * 4 * 16, flops + 3 * 400}));
}

// 6 rows of 16 channels are projected twice to 24, once with a bias; q and k
// meet them; the two are added, divided and added to the logit.
TEST(ExtraCostTest, DebertaProjectsItsRowsInEachLayer) {
  const std::string deberta = "{name: deberta, params: {max_distance: 3}}";
  EXPECT_EQ(Of(deberta, kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(deberta, 1),
            (ExtraCost{2 * 6 * 16 * 24 + 2 * 10 * 24 * 6, 6 * 24 + 3 * 220}));
}

std::string Cope(const std::string& params) {
  return "{name: cope, params: {max_position: 5, mlp_width: 7" + params + "}}";
}

// Three operations of a sigmoid, one of the sum of gates, the sum with the
// logit; between two positions a share, one less it, two products, a sum.
TEST(ExtraCostTest, CopeOfATableMeetsEachPosition) {
  EXPECT_EQ(Of(Cope(""), kInputLayer), ExtraCost{});
  EXPECT_EQ(Of(Cope(""), 1), (ExtraCost{10 * 24 * 5, (5 + 5) * 220}));
  EXPECT_EQ(Of(Cope(", divide_position: true"), 1),
            (ExtraCost{10 * 24 * 5, (5 + 5 + 1) * 220}));
}

// A product with keys, or v, apart, divided by sqrt(d).
TEST(ExtraCostTest, CopesGatesOfTheirOwnAreAProductMore) {
  for (const char* gates : {"plain", "values"}) {
    EXPECT_EQ(Of(Cope(", gates: " + std::string(gates)), 1),
              (ExtraCost{10 * 24 * 5 + 55 * 24, (5 + 5 + 1) * 220, 12}))
        << gates;
  }
  // Keys of two heads are projected.
  EXPECT_EQ(
      Of(Cope(", gates: sep_keys"), 1),
      (ExtraCost{10 * 24 * 5 + 55 * 24 + 10 * 16 * 12, (5 + 5 + 1) * 220, 12}));
}

// Slope and sign times the position; the root of d is not in it.
TEST(ExtraCostTest, CopeOfAlibiHasTwoProductsForEachLogit) {
  for (const char* more : {"", ", divide_position: true"}) {
    EXPECT_EQ(Of(Cope(", form: alibi" + std::string(more)), 1),
              (ExtraCost{0, (5 + 2) * 220}))
        << more;
  }
}

// 7 inner values of each position, three operations each; q meets the second
// matrix and its bias, the result meets the inner values, and both are added.
constexpr ExtraCost kCopeOfMlp = {10 * 24 * 7 + 220 * 7 + 10 * 24,
                                  (5 + 3 * 7 + 1) * 220};

TEST(ExtraCostTest, CopeHasItsMlpInAllLayersOrTheFirst) {
  for (const int layer : {0, 1}) {
    EXPECT_EQ(Of(Cope(", form: mlp"), layer), kCopeOfMlp);
  }
  const std::string first = Cope(", form: mlp, mlp_layers: first");
  EXPECT_EQ(Of(first, 0), kCopeOfMlp);
  EXPECT_EQ(Of(first, 1), Of(Cope(""), 1));
}

TEST(ExtraCostTest, InAPatternCopesMlpIsInTheFirstOfItsLayers) {
  const std::string pattern = "{name: per_layer, with: [{name: rope}, " +
                              Cope(", form: mlp, mlp_layers: first") + "]}";
  EXPECT_EQ(Of(pattern, 1), kCopeOfMlp);
  EXPECT_EQ(Of(pattern, 3), Of(Cope(""), 3));
}

TEST(ExtraCostTest, APatternCostsWhatItsLayersDo) {
  const std::string pattern =
      "{name: per_layer, with: [{name: alibi}, {name: rope}]}";
  EXPECT_EQ(Of(pattern, kInputLayer), (ExtraCost{0, 220 + 10 * 3 * 3}));
  for (const int layer : {0, 2}) {
    EXPECT_EQ(Of(pattern, layer), (ExtraCost{0, 220}));
    EXPECT_EQ(Of(pattern, layer + 1), (ExtraCost{0, 3 * 10 * (4 + 2) * 6}));
  }
}

}  // namespace
}  // namespace ordo::model::catalog
