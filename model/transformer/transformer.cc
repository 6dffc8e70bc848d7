#include "model/transformer/transformer.h"

#include <map>
#include <memory>
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
#include "kernels/attention/table.h"
#include "kernels/torch/attention.h"
#include "kernels/torch/launch.h"
#include "kernels/torch/loss.h"
#include "model/catalog/catalog.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/guard.h"
#include "model/transformer/attention.h"
#include "model/transformer/layers.h"
#include "model/transformer/sight.h"

// Legend: B batch, T new tokens, S all tokens, H heads, G heads of keys and
// values, D head width, K = G * D, C model width, M width of the MLP, V
// vocabulary.

namespace ordo::model::transformer {
namespace {

using encodings::Carried;
using parameters::ParameterSet;

// The kernel that is none of the table's: plain LibTorch operations.
constexpr char kReference[] = "reference";

// Tables of distances are not made longer, whatever the position ids are.
constexpr int64_t kMaxReach = int64_t{1} << 20;

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

// Whether ids [1,S] or [B,S] of real tokens, which are neighbours, go up by 1.
bool AreConsecutive(const at::Tensor& positions, const at::Tensor& real) {
  const int64_t steps = positions.size(1) - 1;
  if (steps == 0) return true;
  const auto before = [&](const at::Tensor& x) {
    return x.narrow(1, 0, steps);
  };
  const auto after = [&](const at::Tensor& x) { return x.narrow(1, 1, steps); };
  at::Tensor follows = (after(positions) - before(positions)).eq(1);
  if (!real.defined()) return follows.all().item<bool>();
  const at::Tensor padded = real.logical_not();
  follows = follows.logical_or(before(padded)).logical_or(after(padded));
  const at::Tensor begins = before(padded).logical_and(after(real));
  const at::Tensor begun = begins.sum(1) + real.select(1, 0).to(at::kLong);
  return follows.all().item<bool>() && begun.le(1).all().item<bool>();
}

// The largest difference of two of them.
int64_t Reach(const at::Tensor& positions) {
  return (positions.max() - positions.min()).item<int64_t>();
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
  std::shared_ptr<const Sight> sight;
  // The first key that each query sees, for kernels.
  at::Tensor first_BHT;
  // Whether keys of earlier segments pass on no gradient.
  bool has_memory;
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
  TORCH_CHECK(cache == nullptr || options.shifted_sparse_group == 0,
              "shifted sparse attention has no cache");
  SightOptions sight_options;
  sight_options.num_queries = length;
  sight_options.num_keys = past + length;
  sight_options.heads = config_.heads;
  sight_options.causal = config_.causal;
  sight_options.segments = encoder_->segments();
  sight_options.sliding_window = config_.sliding_window;
  sight_options.shifted_sparse_group = options.shifted_sparse_group;
  const auto on_device = [&](const at::Tensor& x) {
    return x.defined() ? kernels::torch::CopyTo(x, device()) : x;
  };
  const auto sight = std::make_shared<const Sight>(
      sight_options, on_device(real), embedding_VC_.options());
  encodings::Pass encoding{on_device(all_tokens), on_device(positions),
                           on_device(all), encodings::Visible([sight] {
                             return sight->MaskOfEncodings().visible();
                           }),
                           options.training};
  encoding.host_positions_BS = all;
  encoding.consecutive = AreConsecutive(all, real);
  encoding.reach = encoding.consecutive ? past + length - 1 : Reach(all);
  return {options, sight, sight->First(), sight_options.segments.length > 0,
          std::move(encoding)};
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

// What attention is of.
struct Transformer::Scored {
  // With keys as they are shared.
  encodings::ScoresInput scores;
  // What is mixed, v first, [B,*,S,*].
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
  return {{input, q_BHTD, keys[0], {keys.begin() + 1, keys.end()}}, values};
}

std::vector<at::Tensor> Transformer::MixByKernel(const Scored& scored,
                                                 const Pass& pass) const {
  const std::string& name = pass.options.kernel;
  const bool chosen = !name.empty();
  const bool is_for_kernels =
      chosen || kernels::torch::IsForKernels(scored.scores.q_BHTD);
  if (name == kReference || !is_for_kernels) return {};
  const auto refuse = [&](const absl::Status& why) {
    TORCH_CHECK_VALUE(!chosen, "attention kernel ", name, ": ",
                      std::string(why.message()));
    return std::vector<at::Tensor>();
  };
  if (!pass.sight->IsByFirst()) {
    return refuse(absl::UnimplementedError(
        "keys behind the query are hidden by distance"));
  }
  if (pass.encoding.reach > kMaxReach) {
    return refuse(absl::UnimplementedError("position ids are too far apart"));
  }
  if (pass.has_memory && at::GradMode::is_enabled()) {
    return refuse(absl::UnimplementedError(
        "keys of earlier segments pass on no gradient"));
  }
  auto terms = encoder_->KernelTerms(scored.scores);
  if (!terms.has_value()) {
    return refuse(absl::UnimplementedError(
        "no kernel has what the encoding does to logits"));
  }
  kernels::torch::Attention attention;
  attention.q_BHTD = scored.scores.q_BHTD;
  attention.k_BGSD = scored.scores.k_BHSD;
  const int64_t key_heads = attention.k_BGSD.size(1);
  for (const at::Tensor& value : scored.values) {
    // Heads may share v and turn the keys that they share each by a state.
    const bool shared = value.size(1) == key_heads;
    attention.values.push_back(
        shared ? value : Repeat(value, config_.heads / value.size(1)));
  }
  attention.causal = config_.causal;
  attention.real_BS = pass.sight->real();
  attention.first_BHT = pass.first_BHT;
  if (!pass.encoding.consecutive) {
    attention.positions_BS = pass.encoding.positions_BS;
  }
  attention.terms = std::move(*terms);
  const auto problem = kernels::torch::ProblemOf(attention);
  if (!problem.ok()) return refuse(problem.status());
  const auto kernel = kernels::attention::Select(*problem, name);
  if (!kernel.ok()) return refuse(kernel.status());
  return kernels::torch::Attend(attention, *problem, **kernel);
}

// The logits before the mask and what is mixed, v first, for each head.
struct Transformer::Plain {
  encodings::ScoresInput scores;
  AttentionInput attention;
  std::vector<at::Tensor> values;
};

Transformer::Plain Transformer::InTheOpen(const Scored& scored) const {
  const auto for_each_head = [&](const at::Tensor& x) {
    return Repeat(x, config_.heads / x.size(1));
  };
  encodings::ScoresInput scores = scored.scores;
  scores.k_BHSD = for_each_head(scores.k_BHSD);
  std::vector<at::Tensor> values = scored.values;
  values[0] = for_each_head(values[0]);
  AttentionInput attention{scores.q_BHTD, scores.k_BHSD, {}, {}};
  attention.product = encoder_->Product(scores);
  if (!attention.product.defined() && encoder_->ReadsProduct()) {
    attention.product = encodings::ScaledProduct(scores.q_BHTD, scores.k_BHSD);
  }
  attention.bias = encoder_->Bias(scores, attention.product);
  return {scores, attention, values};
}

std::vector<at::Tensor> Transformer::MixPlainly(const Scored& scored,
                                                const at::Tensor& x_BTC,
                                                const Pass& pass) const {
  const Plain own = InTheOpen(scored);
  const AttentionMask& mask = pass.sight->Mask();
  at::Tensor weights;
  std::vector<at::Tensor> mixed;
  // Without gradients the memory's values are the layer's own.
  if (pass.has_memory && at::GradMode::is_enabled()) {
    // The same with keys and values that pass on no gradient to the layer's
    // input.
    const Plain memory =
        InTheOpen(Score(Project(scored.scores.layer, x_BTC.detach()), pass));
    const at::Tensor same_segment = pass.sight->SameSegment();
    AttentionInput joined = own.attention;
    joined.product = at::where(same_segment, LogitsOf(own.attention),
                               LogitsOf(memory.attention));
    joined.bias = at::Tensor();
    weights = AttentionWeights(joined, mask);
    mixed = Mix(weights * same_segment, own.values);
    const std::vector<at::Tensor> of_memory =
        Mix(weights * same_segment.logical_not(), memory.values);
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] += of_memory[i];
  } else {
    weights = AttentionWeights(own.attention, mask);
    mixed = Mix(weights, own.values);
  }
  if (encoder_->HasValueTerm()) {
    const at::Tensor term = encoder_->ValueTerm(own.scores, weights);
    if (term.defined()) mixed[0] = mixed[0] + term;
  }
  return mixed;
}

at::Tensor Transformer::SelfAttention(int number, const at::Tensor& x_BTC,
                                      const Pass& pass,
                                      Carried* carried) const {
  const Scored scored = Score(
      Project({number, pass.encoding, *carried, {}, {}, {}, {}}, x_BTC), pass);
  std::vector<at::Tensor> mixed = MixByKernel(scored, pass);
  if (mixed.empty()) mixed = MixPlainly(scored, x_BTC, pass);
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

at::Tensor Transformer::Hidden(const at::Tensor& tokens,
                               const ForwardOptions& options) const {
  TORCH_CHECK(tokens.dim() == 2, "tokens have the shape ", tokens.sizes(),
              "; rows and columns are needed");
  const Pass pass = StartPass(tokens, options);
  const at::Tensor new_BT = pass.encoding.tokens_BS.slice(1, -tokens.size(1));
  at::Tensor x_BTC = at::embedding(embedding_VC_, new_BT);
  if (config_.embedding_norm) x_BTC = Norm(x_BTC, embedding_norm_C_);
  x_BTC = encoder_->Embed(x_BTC, pass.encoding);
  x_BTC = ApplyDropout(options.dropout, config_.dropout, /*place=*/0, x_BTC);
  Carried carried = encoder_->Start(x_BTC, pass.encoding);
  for (int number = 0; number < config_.layers; ++number) {
    x_BTC = Block(number, x_BTC, pass, &carried);
  }
  return Norm(x_BTC, norm_C_);
}

at::Tensor Transformer::Forward(const at::Tensor& tokens,
                                const ForwardOptions& options) const {
  return at::linear(Hidden(tokens, options), head_VC_);
}

at::Tensor Transformer::Loss(const at::Tensor& tokens, const Targets& targets,
                             const ForwardOptions& options) const {
  const at::Tensor places_N =
      kernels::torch::CopyTo(targets.places_N, device());
  const at::Tensor x_NC =
      Hidden(tokens, options).flatten(0, 1).index_select(0, places_N);
  return kernels::torch::SumOfLosses({x_NC, head_VC_, targets.targets_N},
                                     targets.factor);
}

}  // namespace ordo::model::transformer
