#include "model/encodings/layer_tensor.h"

#include "gtest/gtest.h"

namespace ordo::model::encodings {
namespace {

ModelShape Shape(std::vector<int> acting) {
  ModelShape shape;
  shape.layers = 3;
  shape.acting = std::move(acting);
  shape.scope = "scope.";
  return shape;
}

LayerTensorOptions Table(bool per_layer) {
  LayerTensorOptions options;
  options.name = "table";
  options.shape = {4, 2};
  options.initial.mean = 7.0;
  options.per_layer = per_layer;
  return options;
}

TEST(LayerTensorTest, LayersShareOneUnderTheScope) {
  parameters::ParameterSet parameters({});
  const auto tensors = AddLayerTensor(Table(false), Shape({}), &parameters);
  ASSERT_EQ(parameters.all().size(), 1u);
  EXPECT_EQ(parameters.all()[0].name, "scope.table");
  ASSERT_EQ(tensors.size(), 3u);
  for (const at::Tensor& tensor : tensors) {
    EXPECT_TRUE(tensor.is_same(parameters.all()[0].tensor));
    EXPECT_EQ(tensor.sizes(), (std::vector<int64_t>{4, 2}));
    EXPECT_EQ(tensor[3][1].item<double>(), 7.0);
  }
}

TEST(LayerTensorTest, OnlyLayersThatActHaveTheirOwn) {
  parameters::ParameterSet parameters({});
  const auto tensors = AddLayerTensor(Table(true), Shape({0, 2}), &parameters);
  ASSERT_EQ(parameters.all().size(), 2u);
  EXPECT_EQ(parameters.all()[0].name, LayerScope(0) + "table");
  EXPECT_EQ(parameters.all()[1].name, LayerScope(2) + "table");
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_TRUE(tensors[0].is_same(parameters.all()[0].tensor));
  EXPECT_FALSE(tensors[1].defined());
  EXPECT_TRUE(tensors[2].is_same(parameters.all()[1].tensor));
}

}  // namespace
}  // namespace ordo::model::encodings
