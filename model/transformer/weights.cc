#include "model/transformer/weights.h"

#include <cmath>

namespace ordo::model::transformer {

struct WeightMaker::Matrix {
  std::string name;
  int64_t out;
  int64_t in;
  bool with_bias;
  double deviation;
};

WeightMaker::WeightMaker(const Config& config,
                         parameters::ParameterSet* parameters)
    : config_(config),
      parameters_(parameters),
      gain_(std::pow(8.0 * config.layers, -0.25)) {}

// Of Xavier's, Glorot and Bengio 2010.
double WeightMaker::Deviation(int64_t out, int64_t in, double gain) const {
  if (!config_.deepnorm) return config_.init_std;
  return gain * std::sqrt(2.0 / static_cast<double>(out + in));
}

at::Tensor WeightMaker::Embedding(const std::string& name) const {
  const double deviation =
      config_.deepnorm ? 1.0 / std::sqrt(config_.width) : config_.init_std;
  return parameters_->Add(
      name + ".weight", {config_.vocabulary_size, config_.width}, {deviation});
}

at::Tensor WeightMaker::Head(const std::string& name) const {
  const int64_t vocabulary = config_.vocabulary_size, width = config_.width;
  return parameters_->Add(name + ".weight", {vocabulary, width},
                          {Deviation(vocabulary, width, gain_)});
}

NormWeights WeightMaker::Norm(const std::string& name) const {
  NormWeights norm;
  norm.weight = parameters_->Add(name + ".weight", {config_.width}, {0.0, 1.0});
  if (config_.norm_bias) {
    norm.bias = parameters_->Add(name + ".bias", {config_.width}, {});
  }
  return norm;
}

LinearWeights WeightMaker::Linear(const Matrix& matrix) const {
  LinearWeights linear;
  linear.weight = parameters_->Add(matrix.name + ".weight",
                                   {matrix.out, matrix.in}, {matrix.deviation});
  if (matrix.with_bias) {
    linear.bias = parameters_->Add(matrix.name + ".bias", {matrix.out}, {});
  }
  return linear;
}

LinearWeights WeightMaker::Projection(const std::string& name) const {
  const int64_t width = config_.width;
  return Linear({name, width, width, /*with_bias=*/false,
                 Deviation(width, width, gain_)});
}

MlpWeights WeightMaker::Mlp(const std::string& name) const {
  const int64_t width = config_.width, inner = config_.mlp_width;
  const bool gated = IsGated(config_.activation), bias = config_.mlp_bias;
  // Gate and up are one matrix there.
  const double inwards = Deviation(gated ? 2 * inner : inner, width, gain_);
  MlpWeights mlp;
  if (gated) {
    mlp.gate = Linear({name + ".gate_proj", inner, width, bias, inwards});
  }
  mlp.up = Linear({name + ".up_proj", inner, width, bias, inwards});
  mlp.down = Linear({name + ".down_proj", width, inner, bias,
                     Deviation(width, inner, gain_)});
  return mlp;
}

LayerWeights WeightMaker::Layer(int number) const {
  const std::string prefix = "model.layers." + std::to_string(number) + ".";
  const std::string attention = prefix + "self_attn.";
  const int64_t width = config_.width, head = config_.head_width;
  const int64_t query_width = config_.heads * head;
  const int64_t key_width = config_.key_value_heads * head;
  const auto projection = [&](const char* name, int64_t out, double gain) {
    return Linear({attention + name, out, width, config_.qkv_bias,
                   Deviation(out, width, gain)});
  };
  const auto of_head = [&](const std::string& name) {
    return NormWeights{
        parameters_->Add(attention + name + ".weight", {head}, {0.0, 1.0}), {}};
  };
  LayerWeights layer;
  layer.attention_norm_C = Norm(prefix + "input_layernorm");
  layer.q = projection("q_proj", query_width, 1.0);
  layer.k = projection("k_proj", key_width, 1.0);
  layer.v = projection("v_proj", key_width, gain_);
  layer.o = Linear({attention + "o_proj", width, query_width,
                    config_.output_bias, Deviation(width, query_width, gain_)});
  if (config_.qk_norm) {
    layer.q_norm_D = of_head("q_norm");
    layer.k_norm_D = of_head("k_norm");
  }
  layer.mlp_norm_C = Norm(prefix + "post_attention_layernorm");
  layer.mlp = Mlp(prefix + "mlp");
  return layer;
}

}  // namespace ordo::model::transformer
