#include "model/transformer/transformer.h"

#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/ones.h"
#include "base/status/status.h"
#include "c10/util/Exception.h"
#include "model/encodings/registry.h"
#include "model/guard.h"
#include "model/transformer/attention.h"
#include "model/transformer/layers.h"

// Legend: B batch, T new tokens, S all tokens, H heads, D head width, C model
// width, M width of the MLP, V vocabulary.

namespace ordo::model::transformer {
namespace {

using encodings::Carried;
using parameters::ParameterSet;

// Places of dropout: the embedding, then two in each layer.
int AttentionPlace(int layer) { return 1 + 2 * layer; }
int MlpPlace(int layer) { return 2 + 2 * layer; }

// Joins what is cached and what is new along the tokens' axis.
void Append(at::Tensor* cached, at::Tensor* fresh, int64_t axis) {
  if (cached->defined()) *fresh = at::cat({*cached, *fresh}, axis);
  *cached = *fresh;
}

// Which of all tokens are real, bool [B,S]; undefined if all are.
at::Tensor RealTokens(const at::Tensor& tokens, const ForwardOptions& options) {
  const Cache* cache = options.cache;
  const bool past_masked = cache != nullptr && cache->attention_mask.defined();
  if (!past_masked && !options.attention_mask.has_value()) return {};
  const int64_t batch = tokens.size(0);
  const auto all_real = [&](int64_t length) {
    return at::ones({batch, length}, tokens.options().dtype(at::kBool));
  };
  const at::Tensor fresh = options.attention_mask.has_value()
                               ? options.attention_mask->to(at::kBool)
                               : all_real(tokens.size(1));
  TORCH_CHECK(fresh.sizes() == tokens.sizes(), "attention_mask has the shape ",
              fresh.sizes(), ", tokens have ", tokens.sizes());
  if (cache == nullptr || cache->length == 0) return fresh;
  return at::cat(
      {past_masked ? cache->attention_mask : all_real(cache->length), fresh},
      1);
}

}  // namespace

struct Transformer::Layer {
  at::Tensor attention_norm_C;
  at::Tensor q_CC;
  at::Tensor k_CC;
  at::Tensor v_CC;
  at::Tensor o_CC;
  // Undefined without qk_norm.
  at::Tensor q_norm_D;
  at::Tensor k_norm_D;
  at::Tensor mlp_norm_C;
  MlpWeights mlp;
};

// What all layers of one pass share.
struct Transformer::Pass {
  const ForwardOptions& options;
  // Of the new tokens and of all, int64 [1,*] or [B,*].
  at::Tensor positions_BT;
  at::Tensor positions_BS;
  AttentionMask mask;
};

Transformer::Transformer(const ordo::training::v1::Model& model,
                         const ordo::training::v1::Component& encoding,
                         const Config& config,
                         const parameters::ParameterOptions& options)
    : model_(model),
      encoding_(encoding),
      config_(config),
      parameters_(options) {}

Transformer::~Transformer() = default;

absl::StatusOr<std::unique_ptr<Transformer>> Transformer::Create(
    const ordo::training::v1::Model& model,
    const ordo::training::v1::Component& encoding,
    const parameters::ParameterOptions& options) {
  ORDO_ASSIGN_OR_RETURN(const Config config, MakeConfig(model));
  std::unique_ptr<Transformer> transformer(
      new Transformer(model, encoding, config, options));
  ORDO_RETURN_IF_ERROR(Guard("make the model's parameters",
                             [&] { return transformer->AddParameters(); }));
  return transformer;
}

absl::Status Transformer::AddParameters() {
  const int64_t vocabulary = config_.vocabulary_size, width = config_.width;
  const parameters::Initial normal{config_.init_std};
  embedding_VC_ =
      parameters_.Add("model.embed_tokens.weight", {vocabulary, width}, normal);
  for (int number = 0; number < config_.layers; ++number) {
    layers_.push_back(AddLayer(number));
  }
  norm_C_ = parameters_.Add("model.norm.weight", {width}, {0.0, 1.0});
  head_VC_ =
      config_.tie_embeddings
          ? embedding_VC_
          : parameters_.Add("lm_head.weight", {vocabulary, width}, normal);
  const encodings::ModelShape shape{config_.layers, config_.width,
                                    config_.heads};
  ORDO_ASSIGN_OR_RETURN(encoder_,
                        encodings::Make(encoding_, shape, &parameters_));
  return absl::OkStatus();
}

Transformer::Layer Transformer::AddLayer(int number) {
  const std::string prefix = "model.layers." + std::to_string(number) + ".";
  const int64_t width = config_.width, inner = config_.mlp_width;
  const auto matrix = [&](const std::string& name, int64_t out, int64_t in) {
    return parameters_.Add(prefix + name + ".weight", {out, in},
                           {config_.init_std});
  };
  const auto ones = [&](const std::string& name, int64_t size) {
    return parameters_.Add(prefix + name + ".weight", {size}, {0.0, 1.0});
  };
  Layer layer;
  layer.attention_norm_C = ones("input_layernorm", width);
  layer.q_CC = matrix("self_attn.q_proj", width, width);
  layer.k_CC = matrix("self_attn.k_proj", width, width);
  layer.v_CC = matrix("self_attn.v_proj", width, width);
  layer.o_CC = matrix("self_attn.o_proj", width, width);
  if (config_.qk_norm) {
    layer.q_norm_D = ones("self_attn.q_norm", config_.head_width());
    layer.k_norm_D = ones("self_attn.k_norm", config_.head_width());
  }
  layer.mlp_norm_C = ones("post_attention_layernorm", width);
  if (config_.gated_mlp) {
    layer.mlp.gate = matrix("mlp.gate_proj", inner, width);
  }
  layer.mlp.up = matrix("mlp.up_proj", inner, width);
  layer.mlp.down = matrix("mlp.down_proj", width, inner);
  return layer;
}

at::Tensor Transformer::Norm(const at::Tensor& x,
                             const at::Tensor& weight) const {
  return config_.rms_norm ? RmsNorm(x, weight, config_.norm_epsilon)
                          : LayerNorm(x, weight, config_.norm_epsilon);
}

Transformer::Pass Transformer::StartPass(const at::Tensor& tokens,
                                         const ForwardOptions& options) const {
  Cache* cache = options.cache;
  const int64_t length = tokens.size(1);
  const int64_t past = cache == nullptr ? 0 : cache->length;
  const at::Tensor real = RealTokens(tokens, options);
  at::Tensor positions;
  if (options.positions.has_value()) {
    positions = *options.positions;
  } else if (real.defined()) {
    positions = encoder_->Positions(
        (real.cumsum(1) - 1).clamp_min(0).narrow(1, past, length));
  } else {
    positions = encoder_->Positions(
        at::arange(past, past + length, tokens.options()).unsqueeze(0));
  }
  TORCH_CHECK(
      positions.dim() == 2 && positions.size(1) == length &&
          (positions.size(0) == 1 || positions.size(0) == tokens.size(0)),
      "positions have the shape ", positions.sizes(), ", tokens have ",
      tokens.sizes());
  at::Tensor all = positions;
  if (cache != nullptr) {
    const int64_t rows = tokens.size(0);
    if (cache->positions.defined() &&
        cache->positions.size(0) != positions.size(0)) {
      cache->positions = cache->positions.expand({rows, past});
      all = positions.expand({rows, length});
    }
    Append(&cache->positions, &all, 1);
    cache->attention_mask = real;
    cache->length = past + length;
    cache->layers.resize(layers_.size());
  }
  return {options, positions, all,
          AttentionMask(length, past + length, real, embedding_VC_.options())};
}

at::Tensor Transformer::SelfAttention(int number, const at::Tensor& hidden_BTC,
                                      const Pass& pass,
                                      Carried* carried) const {
  const Layer& layer = layers_[number];
  const int64_t heads = config_.heads, head_width = config_.head_width();
  const auto project = [&](const at::Tensor& weight) {
    return at::linear(hidden_BTC, weight)
        .unflatten(-1, {heads, head_width})
        .transpose(1, 2);
  };
  at::Tensor q_BHTD = project(layer.q_CC);
  at::Tensor k_BHTD = project(layer.k_CC);
  const at::Tensor v_BHTD = project(layer.v_CC);
  if (config_.qk_norm) {
    q_BHTD = Norm(q_BHTD, layer.q_norm_D);
    k_BHTD = Norm(k_BHTD, layer.k_norm_D);
  }
  AttentionInput input;
  if (encoder_->ChangesLogits()) {
    input.change = encoder_->Logits(number, *carried,
                                    {q_BHTD, k_BHTD, v_BHTD, hidden_BTC,
                                     pass.positions_BT, pass.positions_BS});
  }
  encoder_->TransformQK(number, *carried, &q_BHTD, &k_BHTD);
  const std::vector<at::Tensor> mixed = encoder_->MixedValues(number, *carried);
  input.q_BHTD = q_BHTD;
  input.k_BHSD = k_BHTD;
  input.values = {v_BHTD};
  input.values.insert(input.values.end(), mixed.begin(), mixed.end());
  if (pass.options.cache != nullptr) {
    Cache::Layer& cached = pass.options.cache->layers[number];
    cached.values.resize(input.values.size());
    Append(&cached.keys, &input.k_BHSD, 2);
    for (size_t i = 0; i < input.values.size(); ++i) {
      Append(&cached.values[i], &input.values[i], 2);
    }
  }
  std::vector<at::Tensor> attended = Attend(input, pass.mask);
  const at::Tensor output =
      at::linear(attended[0].transpose(1, 2).flatten(2), layer.o_CC);
  attended.erase(attended.begin());
  encoder_->AfterAttention(number, attended, carried);
  return output;
}

at::Tensor Transformer::Block(int number, const at::Tensor& x_BTC,
                              const Pass& pass, Carried* carried) const {
  const Layer& layer = layers_[number];
  const auto drop = [&](int place, const at::Tensor& x) {
    return ApplyDropout(pass.options.dropout, config_.dropout, place, x);
  };
  const at::Tensor attended =
      SelfAttention(number, Norm(x_BTC, layer.attention_norm_C), pass, carried);
  const at::Tensor middle = x_BTC + drop(AttentionPlace(number), attended);
  const at::Tensor mlp = Mlp(Norm(middle, layer.mlp_norm_C), layer.mlp);
  encoder_->AfterMlp(number, mlp, carried);
  return middle + drop(MlpPlace(number), mlp);
}

at::Tensor Transformer::Forward(const at::Tensor& tokens,
                                const ForwardOptions& options) const {
  TORCH_CHECK(tokens.dim() == 2, "tokens have the shape ", tokens.sizes(),
              "; rows and columns are needed");
  const Pass pass = StartPass(tokens, options);
  at::Tensor x_BTC = at::embedding(embedding_VC_, tokens);
  x_BTC = encoder_->Embed(x_BTC, pass.positions_BT);
  x_BTC = ApplyDropout(options.dropout, config_.dropout, /*place=*/0, x_BTC);
  Carried carried = encoder_->Start(pass.positions_BT, x_BTC);
  for (int number = 0; number < config_.layers; ++number) {
    x_BTC = Block(number, x_BTC, pass, &carried);
  }
  return at::linear(Norm(x_BTC, norm_C_), head_VC_);
}

}  // namespace ordo::model::transformer
