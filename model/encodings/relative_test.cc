#include "model/encodings/relative.h"

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"
#include "model/testing/tensors.h"

namespace ordo::model::encodings {
namespace {

using model::testing::Longs;
using model::testing::SameBits;

TEST(RelativeTest, DistancesAreQueryMinusKey) {
  Pass pass;
  pass.positions_BT = Longs({1, 2}, {5, 9});
  pass.positions_BS = Longs({1, 3}, {2, 5, 9});
  EXPECT_TRUE(
      SameBits(Distances(pass), Longs({1, 1, 2, 3}, {3, 0, -4, 7, 4, 0})));
}

TEST(RelativeTest, EachRowHasItsOwnDistances) {
  Pass pass;
  pass.positions_BT = Longs({2, 1}, {5, 9});
  pass.positions_BS = Longs({2, 2}, {2, 5, 0, 9});
  EXPECT_TRUE(SameBits(Distances(pass), Longs({2, 1, 1, 2}, {3, 0, 9, 0})));
}

// A bias that is the distance times 10, plus the layer's number.
class Tenfold : public PositionBias {
 public:
  explicit Tenfold(const ModelShape& shape, bool per_layer)
      : PositionBias(shape, per_layer) {}

 private:
  at::Tensor Places(const Pass& pass, c10::ScalarType wide) const override {
    return Distances(pass).to(wide);
  }
  at::Tensor BiasOf(const at::Tensor& places, int layer) const override {
    return places * 10 + layer;
  }
};

at::Tensor BiasIn(const Encoding& encoding, int layer) {
  Pass pass;
  pass.positions_BT = pass.positions_BS = Longs({1, 2}, {0, 1});
  const at::Tensor x = model::testing::Normals({1, 2, 4}, "x");
  const Carried carried = encoding.Start(x, pass);
  return encoding.Bias({{layer, pass, carried, x, x, x, x}, x, x, {}}, {});
}

ModelShape Shape() {
  ModelShape shape;
  shape.layers = 3;
  shape.acting = {1, 2};
  return shape;
}

TEST(RelativeTest, ASharedBiasIsThatOfTheFirstLayerThatActs) {
  const Tenfold shared(Shape(), /*per_layer=*/false);
  EXPECT_EQ(BiasIn(shared, 2)[0][0][1][0].item<double>(), 11.0);
}

TEST(RelativeTest, ABiasPerLayerIsThatOfTheLayer) {
  const Tenfold own(Shape(), /*per_layer=*/true);
  EXPECT_EQ(BiasIn(own, 1)[0][0][1][0].item<double>(), 11.0);
  EXPECT_EQ(BiasIn(own, 2)[0][0][1][0].item<double>(), 12.0);
}

}  // namespace
}  // namespace ordo::model::encodings
