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

}  // namespace
}  // namespace ordo::model::catalog
