#include "model/transformer/transformer.h"

#include <map>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/where.h"
#include "base/status/status.h"
#include "c10/util/Exception.h"
#include "model/catalog/catalog.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/guard.h"
#include "model/transformer/attention.h"
#include "model/transformer/layers.h"

// Legend: B batch, T new tokens, S all tokens, H heads, G heads of keys and
// values, D head width, K = G * D, C model width, M width of the MLP, V
// vocabulary.

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

void AppendAll(std::vector<at::Tensor>* cached,
               std::vector<at::Tensor>* fresh) {
  cached->resize(fresh->size());
  for (size_t i = 0; i < fresh->size(); ++i) {
    Append(&(*cached)[i], &(*fresh)[i], 2);
  }
}

std::vector<at::Tensor> Joined(const at::Tensor& first,
                               const std::vector<at::Tensor>& rest) {
  std::vector<at::Tensor> all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// [B,G,S,D] with each head `times` times in a row.
at::Tensor Repeat(const at::Tensor& x, int64_t times) {
  return times == 1 ? x : x.repeat_interleave(times, 1);
}

// The logits before the mask, [B,H,T,S].
at::Tensor LogitsOf(const AttentionInput& input) {
  const at::Tensor product =
      input.product.defined()
          ? input.product
          : encodings::ScaledProduct(input.q_BHTD, input.k_BHSD);
  return input.bias.defined() ? product + input.bias : product;
}

// Which keys are less than `window` tokens away from a query, bool [1,1,T,S].
at::Tensor InWindow(int64_t num_queries, int64_t num_keys, int64_t window,
                    const at::Tensor& tokens) {
  const at::Tensor keys = at::arange(num_keys, tokens.options());
  const at::Tensor queries =
      keys.narrow(0, num_keys - num_queries, num_queries).unsqueeze(1);
  return (queries - keys).abs().lt(window).unsqueeze(0).unsqueeze(0);
}

// Hides what `allowed` does not hold, too.
void Restrict(const at::Tensor& allowed, MaskOptions* options) {
  options->allowed = options->allowed.defined()
                         ? options->allowed.logical_and(allowed)
                         : allowed;
}

// Numbers of all tokens, counted from 0 over the real ones, [1,S] or [B,S].
at::Tensor TokenNumbers(const at::Tensor& real, int64_t length,
                        const at::Tensor& tokens) {
  return real.defined() ? (real.cumsum(1) - 1).clamp_min(0)
                        : at::arange(length, tokens.options()).unsqueeze(0);
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
  NormWeights attention_norm_C;
  LinearWeights q;
  LinearWeights k;
  LinearWeights v;
  LinearWeights o;
  // Undefined without qk_norm.
  NormWeights q_norm_D;
  NormWeights k_norm_D;
  NormWeights mlp_norm_C;
  MlpWeights mlp;
};

// What all layers of one pass share.
struct Transformer::Pass {
  const ForwardOptions& options;
  // With segments, which query and key are of one segment, bool [1,1,T,S] or
  // [B,1,T,S]; else undefined.
  at::Tensor same_segment;
  AttentionMask mask;
  // What the encoding sees of it.
  encodings::Pass encoding;
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
  if (config_.embedding_norm) embedding_norm_C_ = AddNorm("model.embed_norm");
  for (int number = 0; number < config_.layers; ++number) {
    layers_.push_back(AddLayer(number));
  }
  norm_C_ = AddNorm("model.norm");
  head_VC_ =
      config_.tie_embeddings
          ? embedding_VC_
          : parameters_.Add("lm_head.weight", {vocabulary, width}, normal);
  encodings::ModelShape shape;
  shape.layers = config_.layers;
  shape.width = config_.width;
  shape.heads = config_.heads;
  shape.key_heads = config_.key_value_heads;
  shape.causal = config_.causal;
  shape.own_head_width = config_.head_width;
  ORDO_ASSIGN_OR_RETURN(encoder_,
                        encodings::Make(encoding_, shape, &parameters_));
  return absl::OkStatus();
}

NormWeights Transformer::AddNorm(const std::string& name) {
  NormWeights norm;
  norm.weight = parameters_.Add(name + ".weight", {config_.width}, {0.0, 1.0});
  if (config_.norm_bias) {
    norm.bias = parameters_.Add(name + ".bias", {config_.width}, {});
  }
  return norm;
}

LinearWeights Transformer::AddLinear(const std::string& name, int64_t out,
                                     int64_t in, bool with_bias) {
  LinearWeights linear;
  linear.weight =
      parameters_.Add(name + ".weight", {out, in}, {config_.init_std});
  if (with_bias) linear.bias = parameters_.Add(name + ".bias", {out}, {});
  return linear;
}

Transformer::Layer Transformer::AddLayer(int number) {
  const std::string prefix = "model.layers." + std::to_string(number) + ".";
  const std::string attention = prefix + "self_attn.", mlp = prefix + "mlp.";
  const int64_t width = config_.width, inner = config_.mlp_width;
  const int64_t head = config_.head_width;
  const int64_t query_width = config_.heads * head;
  const int64_t key_width = config_.key_value_heads * head;
  const bool qkv_bias = config_.qkv_bias, mlp_bias = config_.mlp_bias;
  const auto of_head = [&](const std::string& name) {
    return NormWeights{
        parameters_.Add(attention + name + ".weight", {head}, {0.0, 1.0}), {}};
  };
  Layer layer;
  layer.attention_norm_C = AddNorm(prefix + "input_layernorm");
  layer.q = AddLinear(attention + "q_proj", query_width, width, qkv_bias);
  layer.k = AddLinear(attention + "k_proj", key_width, width, qkv_bias);
  layer.v = AddLinear(attention + "v_proj", key_width, width, qkv_bias);
  layer.o =
      AddLinear(attention + "o_proj", width, query_width, config_.output_bias);
  if (config_.qk_norm) {
    layer.q_norm_D = of_head("q_norm");
    layer.k_norm_D = of_head("k_norm");
  }
  layer.mlp_norm_C = AddNorm(prefix + "post_attention_layernorm");
  if (config_.activation == Activation::kSwiglu) {
    layer.mlp.gate = AddLinear(mlp + "gate_proj", inner, width, mlp_bias);
  }
  layer.mlp.up = AddLinear(mlp + "up_proj", inner, width, mlp_bias);
  layer.mlp.down = AddLinear(mlp + "down_proj", width, inner, mlp_bias);
  return layer;
}

void Transformer::AddAdapters(const ordo::training::v1::Lora& lora) {
  for (int number = 0; number < config_.layers; ++number) {
    const std::string prefix = "model.layers." + std::to_string(number) + ".";
    Layer& layer = layers_[number];
    const std::map<std::string, std::pair<std::string, LinearWeights*>> all = {
        {"q_proj", {"self_attn.", &layer.q}},
        {"k_proj", {"self_attn.", &layer.k}},
        {"v_proj", {"self_attn.", &layer.v}},
        {"o_proj", {"self_attn.", &layer.o}},
        {"gate_proj", {"mlp.", &layer.mlp.gate}},
        {"up_proj", {"mlp.", &layer.mlp.up}},
        {"down_proj", {"mlp.", &layer.mlp.down}}};
    for (const std::string& target : lora.targets()) {
      const auto& [part, linear] = all.at(target);
      adapters_.Add(lora, prefix + part + target, linear, &parameters_);
    }
  }
}

at::Tensor Transformer::Norm(const at::Tensor& x,
                             const NormWeights& weights) const {
  return config_.rms_norm ? RmsNorm(x, weights.weight, config_.norm_epsilon)
                          : LayerNorm(x, weights, config_.norm_epsilon);
}

at::Tensor Transformer::Positions(const at::Tensor& tokens,
                                  const at::Tensor& real,
                                  const ForwardOptions& options) const {
  const int64_t length = tokens.size(1);
  const int64_t past = options.cache == nullptr ? 0 : options.cache->length;
  if (options.positions.has_value()) return *options.positions;
  encodings::PositionsInput input;
  input.counted =
      real.defined()
          ? (real.cumsum(1) - 1).clamp_min(0).narrow(1, past, length)
          : at::arange(past, past + length, tokens.options()).unsqueeze(0);
  input.num_before = past;
  input.training = options.training;
  input.final_length = options.final_length;
  if (options.cache == nullptr && input.final_length == 0) {
    input.final_length = length;
  }
  return encoder_->Positions(input);
}

Transformer::Pass Transformer::StartPass(const at::Tensor& tokens,
                                         const ForwardOptions& options) const {
  Cache* cache = options.cache;
  TORCH_CHECK(cache == nullptr || config_.causal,
              "a model with causal: false cannot decode with a cache");
  const int64_t rows = tokens.size(0), length = tokens.size(1);
  const int64_t past = cache == nullptr ? 0 : cache->length;
  const at::Tensor real = RealTokens(tokens, options);
  const at::Tensor positions = Positions(tokens, real, options);
  TORCH_CHECK(positions.dim() == 2 && positions.size(1) == length &&
                  (positions.size(0) == 1 || positions.size(0) == rows),
              "positions have the shape ", positions.sizes(), ", tokens have ",
              tokens.sizes());
  at::Tensor all_tokens = tokens, all = positions;
  if (cache != nullptr) {
    if (cache->positions.defined() &&
        cache->positions.size(0) != positions.size(0)) {
      cache->positions = cache->positions.expand({rows, past});
      all = positions.expand({rows, length});
    }
    Append(&cache->positions, &all, 1);
    Append(&cache->tokens, &all_tokens, 1);
    cache->attention_mask = real;
    cache->length = past + length;
    cache->layers.resize(layers_.size());
  }
  if (options.positions.has_value() && config_.causal) {
    const std::string who = catalog::NeedsOrderedPositions(encoding_);
    if (!who.empty()) encodings::CheckAscending(all, real, who);
  }
  MaskOptions mask_options{length, past + length, config_.causal, {}};
  at::Tensor same_segment;
  const encodings::Segments segments = encoder_->segments();
  if (segments.length > 0) {
    const at::Tensor index_BS = TokenNumbers(real, past + length, tokens);
    const at::Tensor start = index_BS - index_BS.remainder(segments.length);
    const at::Tensor of_query =
        start.narrow(1, past, length).unsqueeze(1).unsqueeze(-1);
    const auto of_key = [](const at::Tensor& x) {
      return x.unsqueeze(1).unsqueeze(1);
    };
    same_segment = of_query.eq(of_key(start));
    mask_options.allowed = of_key(index_BS).ge(of_query - segments.memory);
  }
  if (config_.sliding_window > 0) {
    const at::Tensor near =
        InWindow(length, past + length, config_.sliding_window, tokens);
    Restrict(near, &mask_options);
  }
  AttentionMask mask(mask_options, real, embedding_VC_.options());
  encodings::Pass encoding{all_tokens, positions, all, mask.visible(),
                           options.training};
  // Encodings see what tokens see in evaluation.
  if (options.shifted_sparse_group > 0) {
    TORCH_CHECK(cache == nullptr, "shifted sparse attention has no cache");
    const at::Tensor index_BS = TokenNumbers(real, length, tokens);
    Restrict(
        InShiftedGroups(index_BS, config_.heads, options.shifted_sparse_group),
        &mask_options);
    mask = AttentionMask(mask_options, real, embedding_VC_.options());
  }
  return {options, same_segment, std::move(mask), std::move(encoding)};
}

// Fills in what of `input` comes from x_BTC; queries only where it has none.
encodings::LayerInput Transformer::Project(encodings::LayerInput input,
                                           const at::Tensor& x_BTC) const {
  const Layer& layer = layers_[input.layer];
  input.hidden_BTC = Norm(x_BTC, layer.attention_norm_C);
  const auto project = [&](const LinearWeights& weights) {
    return Linear(input.hidden_BTC, weights)
        .unflatten(-1, {-1, config_.head_width})
        .transpose(1, 2);
  };
  if (!input.q_BHTD.defined()) {
    const at::Tensor q_BHTD = project(layer.q);
    input.q_BHTD = config_.qk_norm ? Norm(q_BHTD, layer.q_norm_D) : q_BHTD;
  }
  const at::Tensor k_BGTD = project(layer.k);
  input.k_BGTD = config_.qk_norm ? Norm(k_BGTD, layer.k_norm_D) : k_BGTD;
  input.v_BGTD = project(layer.v);
  return input;
}

// Attention up to its logits.
struct Transformer::Scored {
  encodings::ScoresInput scores;
  AttentionInput attention;
  // What is mixed, v first, [B,H,S,*].
  std::vector<at::Tensor> values;
};

Transformer::Scored Transformer::Score(const encodings::LayerInput& input,
                                       const Pass& pass) const {
  at::Tensor q_BHTD = input.q_BHTD, k_BGTD = input.k_BGTD;
  encoder_->TransformQK(input, &q_BHTD, &k_BGTD);
  std::vector<at::Tensor> keys = Joined(k_BGTD, encoder_->ExtraKeys(input));
  std::vector<at::Tensor> values =
      Joined(input.v_BGTD, encoder_->MixedValues(input));
  if (pass.options.cache != nullptr) {
    Cache::Layer& cached = pass.options.cache->layers[input.layer];
    AppendAll(&cached.keys, &keys);
    AppendAll(&cached.values, &values);
  }
  const auto for_each_head = [&](const at::Tensor& x) {
    return Repeat(x, config_.heads / x.size(1));
  };
  values[0] = for_each_head(values[0]);
  const encodings::ScoresInput scores{
      input, q_BHTD, for_each_head(keys[0]), {keys.begin() + 1, keys.end()}};
  AttentionInput attention{q_BHTD, scores.k_BHSD, {}, {}};
  attention.product = encoder_->Product(scores);
  if (!attention.product.defined() && encoder_->ReadsProduct()) {
    attention.product = encodings::ScaledProduct(q_BHTD, scores.k_BHSD);
  }
  attention.bias = encoder_->Bias(scores, attention.product);
  return {scores, attention, values};
}

// The same with keys and values that pass on no gradient to the layer's input,
// as those of earlier segments.
Transformer::Scored Transformer::WithMemory(const Scored& own,
                                            const at::Tensor& x_BTC,
                                            const Pass& pass) const {
  return Score(Project(own.scores.layer, x_BTC.detach()), pass);
}

at::Tensor Transformer::SelfAttention(int number, const at::Tensor& x_BTC,
                                      const Pass& pass,
                                      Carried* carried) const {
  const Scored own = Score(
      Project({number, pass.encoding, *carried, {}, {}, {}, {}}, x_BTC), pass);
  at::Tensor weights;
  std::vector<at::Tensor> mixed;
  // Without gradients the memory's values are the layer's own.
  if (pass.same_segment.defined() && at::GradMode::is_enabled()) {
    const Scored memory = WithMemory(own, x_BTC, pass);
    AttentionInput joined = own.attention;
    joined.product = at::where(pass.same_segment, LogitsOf(own.attention),
                               LogitsOf(memory.attention));
    joined.bias = at::Tensor();
    weights = AttentionWeights(joined, pass.mask);
    mixed = Mix(weights * pass.same_segment, own.values);
    const std::vector<at::Tensor> of_memory =
        Mix(weights * pass.same_segment.logical_not(), memory.values);
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] += of_memory[i];
  } else {
    weights = AttentionWeights(own.attention, pass.mask);
    mixed = Mix(weights, own.values);
  }
  if (encoder_->HasValueTerm()) {
    const at::Tensor term = encoder_->ValueTerm(own.scores, weights);
    if (term.defined()) mixed[0] = mixed[0] + term;
  }
  const at::Tensor output =
      Linear(mixed[0].transpose(1, 2).flatten(2), layers_[number].o);
  mixed.erase(mixed.begin());
  encoder_->AfterAttention(number, {output, mixed}, carried);
  return output;
}

at::Tensor Transformer::Block(int number, const at::Tensor& x_BTC,
                              const Pass& pass, Carried* carried) const {
  const Layer& layer = layers_[number];
  const auto drop = [&](int place, const at::Tensor& x) {
    return ApplyDropout(pass.options.dropout, config_.dropout, place, x);
  };
  const at::Tensor attended = SelfAttention(number, x_BTC, pass, carried);
  const at::Tensor middle = x_BTC + drop(AttentionPlace(number), attended);
  const at::Tensor& mlp_input = config_.parallel_residual ? x_BTC : middle;
  const at::Tensor mlp =
      Mlp(Norm(mlp_input, layer.mlp_norm_C), layer.mlp, config_.activation);
  encoder_->AfterMlp(number, mlp, carried);
  return middle + drop(MlpPlace(number), mlp);
}

at::Tensor Transformer::Forward(const at::Tensor& tokens,
                                const ForwardOptions& options) const {
  TORCH_CHECK(tokens.dim() == 2, "tokens have the shape ", tokens.sizes(),
              "; rows and columns are needed");
  const Pass pass = StartPass(tokens, options);
  at::Tensor x_BTC = at::embedding(embedding_VC_, tokens);
  if (config_.embedding_norm) x_BTC = Norm(x_BTC, embedding_norm_C_);
  x_BTC = encoder_->Embed(x_BTC, pass.encoding);
  x_BTC = ApplyDropout(options.dropout, config_.dropout, /*place=*/0, x_BTC);
  Carried carried = encoder_->Start(x_BTC, pass.encoding);
  for (int number = 0; number < config_.layers; ++number) {
    x_BTC = Block(number, x_BTC, pass, &carried);
  }
  return at::linear(Norm(x_BTC, norm_C_), head_VC_);
}

}  // namespace ordo::model::transformer
