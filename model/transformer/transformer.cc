#include "model/transformer/transformer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/core/grad_mode.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/embedding.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/ones.h"
#include "ATen/ops/where.h"
#include "base/status/status.h"
#include "c10/util/Exception.h"
#include "kernels/torch/launch.h"
#include "kernels/torch/loss.h"
#include "model/catalog/catalog.h"
#include "model/encodings/position_limit.h"
#include "model/encodings/registry.h"
#include "model/guard.h"
#include "model/transformer/input_noise.h"
#include "model/transformer/layers.h"
#include "model/transformer/mixing.h"
#include "model/transformer/sight.h"

// Legend: B batch, T new tokens, S all tokens, H heads, G heads of keys and
// values, D head width, K = G * D, C model width, M width of the MLP, V
// vocabulary.

namespace ordo::model::transformer {
namespace {

using encodings::Carried;

// Places of dropout: the embedding, then two in each layer.
int AttentionPlace(int layer) { return 1 + 2 * layer; }
int MlpPlace(int layer) { return 2 + 2 * layer; }

std::vector<at::Tensor> Joined(const at::Tensor& first,
                               const std::vector<at::Tensor>& rest) {
  std::vector<at::Tensor> all = {first};
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
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

// Of the new tokens, their numbers among the real ones of their rows, [1,T] or
// [B,T].
at::Tensor Counted(const at::Tensor& tokens, const at::Tensor& real,
                   int64_t past) {
  const int64_t length = tokens.size(1);
  return real.defined()
             ? (real.cumsum(1) - 1).clamp_min(0).narrow(1, past, length)
             : at::arange(past, past + length, tokens.options()).unsqueeze(0);
}

// What of the options goes together, in a model that may be causal.
void CheckOptions(bool causal, const at::Tensor& tokens,
                  const ForwardOptions& options) {
  const bool has_cache = options.cache != nullptr;
  TORCH_CHECK(!has_cache || causal,
              "a model with causal: false cannot decode with a cache");
  TORCH_CHECK(!options.first_seen.has_value() ||
                  (!has_cache && causal &&
                   options.first_seen->sizes() == tokens.sizes()),
              "first_seen is of tokens of a causal model without a cache");
  TORCH_CHECK(!has_cache || options.shifted_sparse_group == 0,
              "shifted sparse attention has no cache");
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

// How far a key may lie after a query that sees it: ids of the last tokens are
// queries', those of all are keys'.
int64_t Ahead(const at::Tensor& positions_BT, const at::Tensor& positions_BS,
              const at::Tensor& real) {
  const int64_t length = positions_BT.size(1);
  at::Tensor keys = positions_BS;
  if (real.defined()) keys = at::where(real, keys, keys.min());
  const at::Tensor last = std::get<0>(keys.cummax(1));
  return (last.narrow(1, last.size(1) - length, length) - positions_BT)
      .max()
      .clamp_min(0)
      .item<int64_t>();
}

// Null where nobody looks: the graph of gradients outlives the options.
const LayerObserver* LookerOf(const ForwardOptions& options) {
  return options.on_layer ? &options.on_layer : nullptr;
}

// Places whose losses are made together, of a vocabulary that lets as many.
constexpr int64_t kLossesAtOnce = 64;

// `x_N`, and copies of its first behind it up to a multiple of `block`.
at::Tensor FilledUp(const at::Tensor& x_N, int64_t block) {
  const int64_t missing = (block - x_N.size(0) % block) % block;
  if (x_N.size(0) == 0 || missing == 0) return x_N;
  return at::cat({x_N, x_N.narrow(0, 0, 1).expand({missing})});
}

}  // namespace

// What all layers of one pass share.
struct Transformer::Pass {
  const ForwardOptions& options;
  // See Counted; on the host.
  at::Tensor counted;
  // What the encoding sees of it.
  encodings::Pass encoding;
  Mixing mixing;
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
  const WeightMaker make(config_, &parameters_);
  embedding_VC_ = make.Embedding("model.embed_tokens");
  if (config_.embedding_norm) embedding_norm_C_ = make.Norm("model.embed_norm");
  for (int number = 0; number < config_.layers; ++number) {
    layers_.push_back(make.Layer(number));
  }
  if (config_.output_mlp) output_mlp_ = make.Mlp("model.output_mlp");
  if (config_.final_norm) norm_C_ = make.Norm("model.norm");
  if (config_.output_projection) {
    output_projection_ = make.Projection("model.output_projection");
  }
  head_VC_ = config_.tie_embeddings ? embedding_VC_ : make.Head("lm_head");
  encodings::ModelShape shape;
  shape.layers = config_.layers;
  shape.width = config_.width;
  shape.heads = config_.heads;
  shape.key_heads = config_.key_value_heads;
  shape.causal = config_.causal;
  shape.own_head_width = config_.head_width;
  const size_t before = parameters_.all().size();
  ORDO_ASSIGN_OR_RETURN(encoder_,
                        encodings::Make(encoding_, shape, &parameters_));
  for (size_t i = before; i < parameters_.all().size(); ++i) {
    of_encoding_.push_back(parameters_.all()[i].tensor);
    names_of_encoding_.insert(parameters_.all()[i].name);
  }
  return absl::OkStatus();
}

void Transformer::AddAdapters(const ordo::training::v1::Lora& lora) {
  for (int number = 0; number < config_.layers; ++number) {
    const std::string prefix = "model.layers." + std::to_string(number) + ".";
    LayerWeights& layer = layers_[number];
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

at::Tensor Transformer::Before(const at::Tensor& x,
                               const NormWeights& weights) const {
  return config_.post_norm ? x : Norm(x, weights);
}

at::Tensor Transformer::After(const at::Tensor& sum,
                              const NormWeights& weights) const {
  return config_.post_norm ? Norm(sum, weights) : sum;
}

at::Tensor Transformer::Positions(const at::Tensor& counted,
                                  const ForwardOptions& options) const {
  if (options.positions.has_value()) return *options.positions;
  encodings::PositionsInput input;
  input.counted = counted;
  input.num_before = options.cache == nullptr ? 0 : options.cache->length;
  input.training = options.training;
  input.final_length = options.final_length;
  if (options.cache == nullptr && input.final_length == 0) {
    input.final_length = counted.size(1);
  }
  return encoder_->Positions(input);
}

Transformer::Pass Transformer::StartPass(const at::Tensor& tokens,
                                         const ForwardOptions& options) const {
  Cache* cache = options.cache;
  CheckOptions(config_.causal, tokens, options);
  const int64_t rows = tokens.size(0), length = tokens.size(1);
  const int64_t past = cache == nullptr ? 0 : cache->length;
  const at::Tensor real = RealTokens(tokens, options);
  const at::Tensor counted = Counted(tokens, real, past);
  const at::Tensor positions = Positions(counted, options);
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
  if (options.first_seen.has_value()) {
    sight_options.first_seen_BS = on_device(*options.first_seen);
  }
  const auto sight = std::make_shared<const Sight>(
      sight_options, on_device(real), embedding_VC_.options());
  encodings::Pass encoding{
      on_device(all_tokens), on_device(positions), on_device(all),
      encodings::Visible(
          [sight] { return sight->MaskOfEncodings(sight->All()).visible(); }),
      options.training};
  encoding.host_positions_BS = all;
  encoding.consecutive = AreConsecutive(all, real);
  encoding.reach = encoding.consecutive ? past + length - 1 : Reach(all);
  encoding.ahead = !config_.causal        ? encoding.reach
                   : encoding.consecutive ? 0
                                          : Ahead(positions, all, real);
  encoding.real_BS = sight->real();
  encoding.first_seen_BS = sight_options.first_seen_BS;
  encoding.seen_BS = Sight(sight_options, real, tokens.options()).Seen();
  return {options,
          counted,
          std::move(encoding),
          {encoder_, of_encoding_, sight, sight->First(),
           sight_options.segments.length > 0, options.kernel,
           options.logits_at_once, options.kernels_taken, LookerOf(options)}};
}

// Fills in what of `input` comes from x_BTC; queries only where it has none.
encodings::LayerInput Transformer::Project(encodings::LayerInput input,
                                           const at::Tensor& x_BTC) const {
  const LayerWeights& layer = layers_[input.layer];
  input.hidden_BTC = Before(x_BTC, layer.attention_norm_C);
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

Scored Transformer::Score(const encodings::LayerInput& input,
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

std::vector<at::Tensor> Transformer::MixValues(const Scored& scored,
                                               const at::Tensor& x_BTC,
                                               const Pass& pass) const {
  std::vector<at::Tensor> mixed = MixByKernel(scored, pass.mixing);
  if (!mixed.empty()) return mixed;
  if (pass.mixing.kernels_taken != nullptr) {
    pass.mixing.kernels_taken->insert(kPlainMixing);
  }
  // Without gradients the memory's keys and values are the layer's own.
  if (!pass.mixing.has_memory || !at::GradMode::is_enabled()) {
    return MixPlainly(scored, nullptr, pass.mixing);
  }
  // Its keys and values pass on no gradient to the layer's input.
  const Scored memory =
      Score(Project(scored.scores.layer, x_BTC.detach()), pass);
  return MixPlainly(scored, &memory, pass.mixing);
}

at::Tensor Transformer::SelfAttention(int number, const at::Tensor& x_BTC,
                                      const Pass& pass,
                                      Carried* carried) const {
  const Scored scored = Score(
      Project({number, pass.encoding, *carried, {}, {}, {}, {}}, x_BTC), pass);
  std::vector<at::Tensor> mixed = MixValues(scored, x_BTC, pass);
  const at::Tensor output =
      Linear(mixed[0].transpose(1, 2).flatten(2), layers_[number].o);
  mixed.erase(mixed.begin());
  encoder_->AfterAttention(number, {output, mixed}, carried);
  return output;
}

at::Tensor Transformer::Block(int number, const at::Tensor& x_BTC,
                              const Pass& pass, Carried* carried) const {
  const LayerWeights& layer = layers_[number];
  const auto drop = [&](int place, const at::Tensor& x) {
    return ApplyDropout(pass.options.dropout, config_.dropout, place, x);
  };
  const at::Tensor attended = SelfAttention(number, x_BTC, pass, carried);
  const at::Tensor middle = After(
      x_BTC + drop(AttentionPlace(number), attended), layer.attention_norm_C);
  const at::Tensor& mlp_input = config_.parallel_residual ? x_BTC : middle;
  const at::Tensor mlp =
      Mlp(Before(mlp_input, layer.mlp_norm_C), layer.mlp, config_.activation);
  encoder_->AfterMlp(number, mlp, carried);
  return After(middle + drop(MlpPlace(number), mlp), layer.mlp_norm_C);
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
  if (config_.input_noise > 0) {
    x_BTC = AddInputNoise(config_.input_noise, pass.counted, options.training,
                          x_BTC);
  }
  x_BTC = ApplyDropout(options.dropout, config_.dropout, /*place=*/0, x_BTC);
  Carried carried = encoder_->Start(x_BTC, pass.encoding);
  for (int number = 0; number < config_.layers; ++number) {
    x_BTC = Block(number, x_BTC, pass, &carried);
  }
  if (config_.output_mlp) {
    x_BTC = Mlp(x_BTC, output_mlp_, config_.activation);
  }
  if (config_.final_norm) x_BTC = Norm(x_BTC, norm_C_);
  return config_.output_projection ? Linear(x_BTC, output_projection_) : x_BTC;
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

at::Tensor Transformer::Losses(const at::Tensor& tokens, const Targets& targets,
                               const ForwardOptions& options) const {
  const at::NoGradGuard no_grad;
  const int64_t num_places = targets.places_N.size(0);
  const int64_t at_once = std::clamp<int64_t>(
      options.logits_at_once / std::max<int64_t>(1, head_VC_.size(0)), 1,
      kLossesAtOnce);
  const at::Tensor places_N =
      kernels::torch::CopyTo(FilledUp(targets.places_N, at_once), device());
  const at::Tensor targets_N =
      kernels::torch::CopyTo(FilledUp(targets.targets_N, at_once), device());
  const at::Tensor x_NC =
      Hidden(tokens, options).flatten(0, 1).index_select(0, places_N);
  std::vector<at::Tensor> losses;
  for (int64_t begin = 0; begin < x_NC.size(0); begin += at_once) {
    const at::Tensor logits_NV =
        at::linear(x_NC.narrow(0, begin, at_once), head_VC_).to(at::kFloat);
    losses.push_back(at::cross_entropy_loss(logits_NV,
                                            targets_N.narrow(0, begin, at_once),
                                            {}, at::Reduction::None));
  }
  return losses.empty() ? at::empty({0}, x_NC.options().dtype(at::kFloat))
                        : at::cat(losses).narrow(0, 0, num_places);
}

}  // namespace ordo::model::transformer
