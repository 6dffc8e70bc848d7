#include "model/transformer/weights.h"

#include <cmath>

#include "ATen/TensorOperators.h"
#include "gtest/gtest.h"

namespace ordo::model::transformer {
namespace {

// (8 layers)^(-1/4) is a half.
Config Sizes() {
  Config config;
  config.layers = 2;
  config.width = 128;
  config.heads = 2;
  config.key_value_heads = 1;
  config.head_width = 64;
  config.mlp_width = 96;
  config.vocabulary_size = 50;
  return config;
}

// The deviation of a matrix's values is about this.
void ExpectDeviation(const at::Tensor& matrix, double deviation) {
  EXPECT_NEAR(matrix.square().mean().sqrt().item<double>() / deviation, 1.0,
              0.05);
}

double Xavier(double out, double in) { return std::sqrt(2.0 / (out + in)); }

TEST(WeightsTest, MatricesStartWithTheDeviationThatIsSaid) {
  const Config config = Sizes();
  parameters::ParameterSet parameters({});
  const WeightMaker make(config, &parameters);
  make.Embedding("embedding");
  make.Layer(0);
  make.Mlp("mlp");
  make.Projection("projection");
  make.Head("head");
  for (const auto& [name, tensor] : parameters.all()) {
    if (tensor.dim() == 2) ExpectDeviation(tensor, config.init_std);
  }
}

TEST(WeightsTest, DeepNormStartsEachKindOfMatrixOnItsOwn) {
  Config config = Sizes();
  config.deepnorm = true;
  parameters::ParameterSet parameters({});
  const WeightMaker make(config, &parameters);
  ExpectDeviation(make.Embedding("embedding"), 1 / std::sqrt(128.0));
  const LayerWeights layer = make.Layer(1);
  ExpectDeviation(layer.q.weight, Xavier(128, 128));
  ExpectDeviation(layer.k.weight, Xavier(64, 128));
  ExpectDeviation(layer.v.weight, 0.5 * Xavier(64, 128));
  ExpectDeviation(layer.o.weight, 0.5 * Xavier(128, 128));
  ExpectDeviation(layer.mlp.gate.weight, 0.5 * Xavier(2 * 96, 128));
  ExpectDeviation(layer.mlp.up.weight, 0.5 * Xavier(2 * 96, 128));
  ExpectDeviation(layer.mlp.down.weight, 0.5 * Xavier(128, 96));
  ExpectDeviation(make.Projection("projection").weight, 0.5 * Xavier(128, 128));
  ExpectDeviation(make.Head("head"), 0.5 * Xavier(50, 128));
  config.activation = Activation::kRelu;
  ExpectDeviation(make.Mlp("mlp").up.weight, 0.5 * Xavier(96, 128));
}

TEST(WeightsTest, NormsStartAtOneAndBiasesAtZero) {
  Config config = Sizes();
  config.deepnorm = true;
  config.norm_bias = config.qkv_bias = config.output_bias = config.mlp_bias =
      true;
  parameters::ParameterSet parameters({});
  WeightMaker(config, &parameters).Layer(0);
  int vectors = 0;
  for (const auto& [name, tensor] : parameters.all()) {
    if (tensor.dim() != 1) continue;
    const double start = name.find("norm.weight") == std::string::npos ? 0 : 1;
    EXPECT_TRUE(tensor.eq(start).all().item<bool>()) << name;
    ++vectors;
  }
  EXPECT_EQ(vectors, 2 * 2 + 4 + 3);
}

}  // namespace
}  // namespace ordo::model::transformer
