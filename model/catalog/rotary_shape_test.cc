#include "model/catalog/rotary_shape.h"

#include <string>

#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/catalog/entries.h"

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Component FromText(const std::string& yaml) {
  Component component;
  EXPECT_TRUE(base::ReadMessage(yaml, base::TextForm::kYaml, &component).ok())
      << yaml;
  return component;
}

// The paths of all that is wrong, with 2 heads of 8 channels.
std::vector<std::string> Wrong(const std::string& yaml,
                               const ModelShape& shape = {2, 16, 2}) {
  Component component = FromText(yaml);
  std::vector<base::FieldViolation> violations;
  ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
  if (violations.empty()) {
    CheckShape("encoding", component, shape, &violations);
  }
  std::vector<std::string> fields;
  for (const auto& violation : violations) fields.push_back(violation.field);
  return fields;
}

TEST(RotaryShapeTest, AnEvenNumberOfChannelsTurns) {
  for (const std::string& name : RotaryNames()) {
    if (name == "liere") continue;
    EXPECT_THAT(Wrong("{name: " + name + ", params: {partial: 0.4}}"),
                ElementsAre("encoding.params.partial"))
        << name;
  }
  EXPECT_THAT(Wrong("{name: rope_bias, params: {partial: 0.4}}"),
              ElementsAre("encoding.params.partial"));
}

TEST(RotaryShapeTest, AGridTurnsAMultipleOfFour) {
  EXPECT_THAT(Wrong("{name: rope_2d, params: {partial: 0.5}}"), IsEmpty());
  EXPECT_THAT(Wrong("{name: rope_2d, params: {partial: 0.25}}"),
              ElementsAre("encoding.params.partial"));
  EXPECT_THAT(Wrong("{name: rope_2d}", {2, 12, 2}),
              ElementsAre("encoding.params.partial"));
}

TEST(RotaryShapeTest, ListsHaveOneNumberForEachPair) {
  EXPECT_THAT(Wrong("{name: longrope, params: {long_factors: [1, 2, 3]}}"),
              ElementsAre("encoding.params.long_factors"));
  EXPECT_THAT(Wrong("{name: longrope, params: {short_factors: [1, 2], partial: "
                    "0.5}}"),
              IsEmpty());
  EXPECT_THAT(Wrong("{name: rope_mixed_base, params: {lambdas: [1]}}"),
              ElementsAre("encoding.params.lambdas"));
  EXPECT_THAT(Wrong("{name: longrope, params: {short_factors: [0, 1, 1, 1]}}"),
              ElementsAre("encoding.params.short_factors"));
}

TEST(RotaryShapeTest, RampsGoUpAndHaveABase) {
  EXPECT_THAT(Wrong("{name: yarn, params: {base: 1}}"),
              ElementsAre("encoding.params.base"));
  EXPECT_THAT(Wrong("{name: yarn, params: {beta_fast: 1, beta_slow: 2}}"),
              ElementsAre("encoding.params.beta_fast"));
  EXPECT_THAT(Wrong("{name: partial_ntk, params: {gamma_fast: 1}}"),
              ElementsAre("encoding.params.gamma_fast"));
  EXPECT_THAT(Wrong("{name: llama3, params: {high_freq_factor: 1}}"),
              ElementsAre("encoding.params.high_freq_factor"));
}

TEST(RotaryShapeTest, XposReachesPositionZeroFromItsCentre) {
  EXPECT_THAT(Wrong("{name: xpos, params: {centre: 34330}}"), IsEmpty());
  EXPECT_THAT(Wrong("{name: xpos, params: {centre: 34331}}"),
              ElementsAre("encoding.params.centre"));
}

TEST(RotaryShapeTest, XposHasRoomForAsFarFromItsCentre) {
  Component xpos =
      FromText("{name: xpos, params: {scale_base: 512, centre: 100}}");
  EXPECT_EQ(LimitXpos(xpos), 34431);
}

TEST(RotaryShapeTest, BlocksDivideTheHead) {
  EXPECT_THAT(Wrong("{name: liere, params: {block: 4}}"), IsEmpty());
  for (const std::string block : {"1", "3", "6", "16"}) {
    EXPECT_THAT(Wrong("{name: liere, params: {block: " + block + "}}"),
                ElementsAre("encoding.params.block"))
        << block;
  }
}

TEST(RotaryShapeTest, OnlyOneEncodingTurns) {
  EXPECT_THAT(Wrong("{name: rope, with: [{name: yarn}]}"),
              ElementsAre("encoding.with[0].name"));
  EXPECT_THAT(Wrong("{name: rope, with: [{name: cope, with: [{name: yarn}]}]}"),
              ElementsAre("encoding.with[0].with[0].name"));
}

TEST(RotaryShapeTest, BiasesBesideARotationLeaveItsParametersToIt) {
  EXPECT_THAT(
      Wrong("{name: yarn, with: [{name: rope_bias, params: {base: 7}}]}"),
      ElementsAre("encoding.with[0].params.base"));
  EXPECT_THAT(
      Wrong("{name: rope_bias, params: {layout: interleaved}, with: [{name: "
            "yarn}]}"),
      ElementsAre("encoding.params.layout"));
  EXPECT_THAT(Wrong("{name: rope_bias, with: [{name: yarn}]}"), IsEmpty());
  EXPECT_THAT(Wrong("{name: yarn, with: [{name: rope_bias}]}"), IsEmpty());
}

TEST(RotaryShapeTest, ParametersAreCountedOnce) {
  const auto count = [](const std::string& yaml, const ModelShape& shape) {
    Component component = FromText(yaml);
    std::vector<base::FieldViolation> violations;
    ResolveComponent(Kind::kEncoding, "encoding", &component, &violations);
    EXPECT_TRUE(violations.empty());
    return CountParameters(component, shape);
  };
  // 3 layers, 4 heads of 16 channels, 2 key heads.
  const ModelShape shape{3, 64, 4, 2};
  EXPECT_EQ(count("{name: rope_bias}", shape), 3 * (4 + 2) * 16);
  EXPECT_EQ(count("{name: rope_bias, with: [{name: yarn}]}", shape),
            3 * (4 + 2) * 16);
  EXPECT_EQ(count("{name: yarn, with: [{name: rope_bias}]}", shape),
            3 * (4 + 2) * 16);
  EXPECT_EQ(
      count("{name: rope_bias, with: [{name: liere, params: {block: 4}}]}",
            shape),
      3 * (4 + 2) * 16 + 3 * 2 * 4 * 6);
  // The published counts: 12 layers of 12 heads of 64 channels, on images.
  const ModelShape vision{12, 768, 12};
  EXPECT_EQ(count("{name: liere, params: {axes: 2}}", vision), 580608);
  EXPECT_EQ(count("{name: liere, params: {axes: 2, block: 8}}", vision), 64512);
}

}  // namespace
}  // namespace ordo::model::catalog
