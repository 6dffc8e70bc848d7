#include "model/encodings/encoding.h"

#include <cmath>

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

TEST(EncodingTest, ScaledProductIsTheDotOverTheRootOfTheWidth) {
  const at::Tensor q = Normals({2, 3, 2, 6}, "q");
  const at::Tensor k = Normals({2, 3, 5, 6}, "k");
  const at::Tensor product = ScaledProduct(q, k);
  for (int t = 0; t < 2; ++t) {
    for (int s = 0; s < 5; ++s) {
      double dot = 0.0;
      for (int d = 0; d < 6; ++d) {
        dot += q[1][2][t][d].item<double>() * k[1][2][s][d].item<double>();
      }
      EXPECT_NEAR(product[1][2][t][s].item<double>(), dot / std::sqrt(6.0),
                  1e-14);
    }
  }
}

// What an encoding does that overrides nothing.
TEST(EncodingTest, NothingIsTheDefault) {
  const class : public Encoding {
  } nothing;
  const at::Tensor x = Normals({1, 2, 4}, "x");
  const Pass pass;
  EXPECT_EQ(MaxDifference(nothing.Embed(x, pass), x), 0.0);
  EXPECT_EQ(MaxDifference(nothing.Positions({x, 0, {}, 0}), x), 0.0);
  EXPECT_TRUE(nothing.Start(x, pass).tensors.empty());
  EXPECT_FALSE(nothing.ReadsProduct());
  EXPECT_FALSE(nothing.HasValueTerm());
  EXPECT_EQ(nothing.NumExtraKeys(), 0);
  EXPECT_EQ(nothing.NumMixedValues(0), 0);
  EXPECT_EQ(nothing.segments().length, 0);
}

}  // namespace
}  // namespace ordo::model::encodings
