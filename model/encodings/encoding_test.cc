#include "model/encodings/encoding.h"

#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using testing::MaxDifference;
using testing::Normals;

TEST(EncodingTest, WithoutAListAllLayersAct) {
  ModelShape shape;
  shape.layers = 3;
  EXPECT_EQ(shape.ActingLayers(), (std::vector<int>{0, 1, 2}));
  shape.acting = {1};
  EXPECT_EQ(shape.ActingLayers(), (std::vector<int>{1}));
}

TEST(EncodingTest, ScopesAreHuggingFacesNames) {
  EXPECT_EQ(LayerScope(3), "model.layers.3.self_attn.");
  EXPECT_EQ(ModelShape().scope, "model.");
}

// What an encoding does that overrides nothing.
TEST(EncodingTest, NothingIsTheDefault) {
  const class : public Encoding {
  } nothing;
  const at::Tensor x = Normals({1, 2, 4}, "x");
  const Pass pass;
  EXPECT_EQ(MaxDifference(nothing.Embed(x, pass), x), 0.0);
  EXPECT_EQ(MaxDifference(nothing.Positions({x, {}, 0}), x), 0.0);
  EXPECT_TRUE(nothing.Start(x, pass).tensors.empty());
  EXPECT_FALSE(nothing.ReadsProduct());
  EXPECT_FALSE(nothing.HasValueTerm());
  EXPECT_EQ(nothing.NumExtraKeys(), 0);
  EXPECT_EQ(nothing.NumMixedValues(0), 0);
}

}  // namespace
}  // namespace ordo::model::encodings
