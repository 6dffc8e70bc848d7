#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/catalog/catalog.h"

namespace ordo::model::catalog {
namespace {

using ordo::training::v1::Component;

constexpr ModelShape kShape{2, 16, 2};

Component Resolved(const std::string& name) {
  Component component;
  component.set_name(name);
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  EXPECT_TRUE(violations.empty()) << name;
  return component;
}

ExtraCost Of(const std::string& name, int layer,
             CostConvention convention = CostConvention::kModel) {
  CostQuery query;
  query.convention = convention;
  query.layer = layer;
  query.tokens = 10;
  query.pairs = 55;
  return CountCost(Resolved(name), kShape, query);
}

TEST(ExtraCostTest, NoEncodingCostsNothing) {
  for (const int layer : {kInputLayer, 0, 1}) {
    EXPECT_EQ(Of("none", layer).macs, 0);
    EXPECT_EQ(Of("none", layer).flops, 0);
    EXPECT_EQ(Of("none", layer).state, 0);
  }
}

// Ten tokens, four pairs of channels: an angle, a sine and a cosine each; then
// two products and a sum for 8 channels of 2 heads of q and of k.
TEST(ExtraCostTest, RopeMakesItsTableOnceAndTurnsInEachLayer) {
  EXPECT_EQ(Of("rope", kInputLayer).flops, 10 * 4 * 3);
  for (const int layer : {0, 1}) {
    EXPECT_EQ(Of("rope", layer).flops, 3 * 10 * (2 + 2) * 8);
    EXPECT_EQ(Of("rope", layer).macs, 0);
  }
}

TEST(ExtraCostTest, ThePapersTableLeavesSingleValuesOut) {
  EXPECT_EQ(Of("rope", 0, CostConvention::kTapeTable3).flops, 0);
}

TEST(ExtraCostTest, TapeKeepsItsStateOfEachToken) {
  // d values of each of two heads, in all layers but the last.
  EXPECT_EQ(Of("tape", 0).state, 16);
  EXPECT_EQ(Of("tape", 1).state, 0);
}

}  // namespace
}  // namespace ordo::model::catalog
