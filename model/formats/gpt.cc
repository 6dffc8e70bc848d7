#include "model/formats/gpt.h"

#include <string>

#include "model/catalog/foreign.h"
#include "model/formats/rope_keys.h"

namespace ordo::model::formats {
namespace {

using catalog::ImpliedEncoding;
using ordo::training::v1::Component;
using ordo::training::v1::Model;

struct ActivationName {
  const char* theirs;
  const char* ours;
};

// The first row of ours is what is written.
constexpr ActivationName kActivations[] = {
    {"gelu_new", "gelu_tanh"},  {"gelu_pytorch_tanh", "gelu_tanh"},
    {"gelu_fast", "gelu_tanh"}, {"gelu", "gelu"},
    {"relu", "relu"},
};

void ReadActivation(const char* key, const char* fallback, ConfigKeys* keys,
                    Model* model) {
  const std::string name = keys->StringOr(key, fallback);
  for (const auto& row : kActivations) {
    if (name == row.theirs) model->set_mlp(row.ours);
  }
  if (model->mlp().empty()) keys->Refuse(key, name + " is not supported");
}

// Nothing for a gated one.
std::optional<std::string> WriteActivation(const Model& model) {
  for (const auto& row : kActivations) {
    if (model.mlp() == row.ours) return row.theirs;
  }
  return std::nullopt;
}

// LayerNorms and matrices all with biases, or all without.
void SetBiases(bool present, Model* model) {
  model->set_norm("layernorm");
  model->set_norm_bias(present);
  model->set_mlp_bias(present);
  model->set_attention_bias(present ? "all" : "none");
}

// What the four have in common.
bool IsGpt(const Model& model) {
  return model.norm() == "layernorm" && model.causal() && !model.qk_norm() &&
         model.mlp() != "swiglu" && model.sliding_window() == 0 &&
         model.key_value_heads() == model.heads() &&
         int64_t{model.heads()} * model.head_width() == model.width();
}

bool HasBiases(const Model& model, bool present) {
  return model.norm_bias() == present && model.mlp_bias() == present &&
         model.attention_bias() == (present ? "all" : "none");
}

const SharedKeys& Gpt2Keys() {
  static const auto* const keys =
      new SharedKeys{{"n_layer", "num_hidden_layers"},
                     {"n_embd", "hidden_size"},
                     {"n_head", "num_attention_heads"},
                     "layer_norm_epsilon",
                     1e-5,
                     true};
  return *keys;
}

absl::StatusOr<ForeignConfig> ReadGpt2(const Json& json,
                                       const Component* given) {
  ConfigKeys keys(json);
  ForeignConfig config;
  Model& model = config.model;
  ReadShared(Gpt2Keys(), &keys, &model);
  model.set_mlp_width(keys.IntegerOr("n_inner", 4 * model.width()));
  SetBiases(true, &model);
  ReadActivation("activation_function", "gelu_new", &keys, &model);
  const int positions = keys.IntegerOr("n_positions", 1024);
  config.encoding =
      given != nullptr
          ? *given
          : catalog::FromImplied(ImpliedEncoding::kLearned, positions);
  keys.Require("scale_attn_weights", true);
  keys.Require("scale_attn_by_inverse_layer_idx", false);
  keys.Require("add_cross_attention", false);
  keys.Ignore({"attn_pdrop", "embd_pdrop", "n_ctx", "reorder_and_upcast_attn",
               "resid_pdrop", "summary_activation", "summary_first_dropout",
               "summary_proj_to_labels", "summary_type", "summary_use_proj"});
  return Finished(config, keys);
}

std::optional<Json> WriteGpt2(const Model& model, const Component& encoding) {
  const auto activation = WriteActivation(model);
  if (!IsGpt(model) || !HasBiases(model, true) || !activation ||
      model.embedding_norm() || model.parallel_residual() ||
      !catalog::IsImplied(ImpliedEncoding::kLearned, encoding)) {
    return std::nullopt;
  }
  Json json = WriteShared(Gpt2Keys(), model);
  json["n_inner"] = model.mlp_width();
  json["n_positions"] = catalog::LearnedPositions(encoding);
  json["activation_function"] = *activation;
  return json;
}

const char kLayer[] = "model.layers.#.";

std::vector<std::string> Queries() {
  const std::string prefix = std::string(kLayer) + "self_attn.";
  return {prefix + "q_proj", prefix + "k_proj", prefix + "v_proj"};
}

// Their names of what all four have in a layer; `layer` is in front.
struct LayerNames {
  std::string layer;
  std::string attention_norm;
  std::string queries;
  std::string output;
  std::string mlp_norm;
  std::string up;
  std::string down;
};

void AddLayer(const LayerNames& names, Layout queries, Layout others,
              std::vector<TensorRule>* rules) {
  const std::string& theirs = names.layer;
  const std::string ours = kLayer;
  AddRules(theirs + names.attention_norm, {ours + "input_layernorm"},
           Layout::kSame, rules);
  AddRules(theirs + names.queries, Queries(), queries, rules);
  AddRules(theirs + names.output, {ours + "self_attn.o_proj"}, others, rules);
  AddRules(theirs + names.mlp_norm, {ours + "post_attention_layernorm"},
           Layout::kSame, rules);
  AddRules(theirs + names.up, {ours + "mlp.up_proj"}, others, rules);
  AddRules(theirs + names.down, {ours + "mlp.down_proj"}, others, rules);
}

TensorNames Gpt2Names() {
  TensorNames names;
  names.prefix = "transformer.";
  names.rules = {
      {"wte.weight", {"model.embed_tokens.weight"}},
      {"wpe.weight", {catalog::LearnedPositionsTensor()}},
      {"/lm_head.weight", {"lm_head.weight"}},
      {"h.#.attn.bias", {}},
      {"h.#.attn.masked_bias", {}},
  };
  AddRules("ln_f", {"model.norm"}, Layout::kSame, &names.rules);
  AddLayer({"h.#.", "ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc",
            "mlp.c_proj"},
           Layout::kJoinedTransposed, Layout::kTransposed, &names.rules);
  return names;
}

const SharedKeys& GptNeoxKeys() {
  static const auto* const keys = new SharedKeys{{"num_hidden_layers"},
                                                 {"hidden_size"},
                                                 {"num_attention_heads"},
                                                 "layer_norm_eps",
                                                 1e-5,
                                                 false};
  return *keys;
}

absl::StatusOr<ForeignConfig> ReadGptNeox(const Json& json,
                                          const Component* given) {
  ConfigKeys keys(json);
  ForeignConfig config;
  Model& model = config.model;
  ReadShared(GptNeoxKeys(), &keys, &model);
  model.set_mlp_width(keys.Integer({"intermediate_size"}));
  SetBiases(true, &model);
  if (!keys.BoolOr("attention_bias", true)) model.set_attention_bias("none");
  model.set_parallel_residual(keys.BoolOr("use_parallel_residual", true));
  ReadActivation("hidden_act", "gelu", &keys, &model);
  RopeDefaults rope;
  rope.partial = 0.25;
  config.encoding = ReadRope(rope, given, &keys);
  return Finished(config, keys);
}

std::optional<Json> WriteGptNeox(const Model& model,
                                 const Component& encoding) {
  const auto activation = WriteActivation(model);
  if (!IsGpt(model) || !model.norm_bias() || !model.mlp_bias() ||
      model.attention_bias() == "qkv" || !activation ||
      model.embedding_norm()) {
    return std::nullopt;
  }
  Json json = WriteShared(GptNeoxKeys(), model);
  json["intermediate_size"] = model.mlp_width();
  json["hidden_act"] = *activation;
  json["attention_bias"] = model.attention_bias() == "all";
  json["use_parallel_residual"] = model.parallel_residual();
  if (!WriteRope(encoding, &json)) return std::nullopt;
  // Under the names that old versions of the library read, too.
  json["rotary_emb_base"] = json["rope_theta"];
  json["rotary_pct"] = json.value("partial_rotary_factor", 1.0);
  json["partial_rotary_factor"] = json["rotary_pct"];
  return json;
}

TensorNames GptNeoxNames() {
  TensorNames names;
  names.prefix = "gpt_neox.";
  names.rules = {
      {"embed_in.weight", {"model.embed_tokens.weight"}},
      {"/embed_out.weight", {"lm_head.weight"}},
      {"layers.#.attention.bias", {}},
      {"layers.#.attention.masked_bias", {}},
      {"layers.#.attention.rotary_emb.inv_freq", {}},
  };
  AddRules("final_layer_norm", {"model.norm"}, Layout::kSame, &names.rules);
  AddLayer({"layers.#.", "input_layernorm", "attention.query_key_value",
            "attention.dense", "post_attention_layernorm", "mlp.dense_h_to_4h",
            "mlp.dense_4h_to_h"},
           Layout::kJoinedByHead, Layout::kSame, &names.rules);
  return names;
}

const SharedKeys& BloomKeys() {
  static const auto* const keys =
      new SharedKeys{{"n_layer", "num_hidden_layers"},
                     {"hidden_size", "n_embed"},
                     {"n_head", "num_attention_heads"},
                     "layer_norm_epsilon",
                     1e-5,
                     true};
  return *keys;
}

absl::StatusOr<ForeignConfig> ReadBloom(const Json& json,
                                        const Component* given) {
  ConfigKeys keys(json);
  ForeignConfig config;
  Model& model = config.model;
  ReadShared(BloomKeys(), &keys, &model);
  model.set_mlp_width(4 * model.width());
  keys.Require("n_inner", 4 * model.width());
  model.set_mlp("gelu_tanh");
  SetBiases(true, &model);
  model.set_embedding_norm(true);
  config.encoding = given != nullptr
                        ? *given
                        : catalog::FromImplied(ImpliedEncoding::kLinearBias, 0);
  keys.Require("apply_residual_connection_post_layernorm", false);
  keys.Ignore({"attention_softmax_in_fp32", "bias_dropout_fusion",
               "hidden_dropout_prob", "masked_softmax_fusion", "offset_alibi",
               "seq_length", "skip_bias_add", "skip_bias_add_qkv",
               "slow_but_exact"});
  return Finished(config, keys);
}

std::optional<Json> WriteBloom(const Model& model, const Component& encoding) {
  if (!IsGpt(model) || !HasBiases(model, true) || !model.embedding_norm() ||
      model.parallel_residual() || model.mlp() != "gelu_tanh" ||
      model.mlp_width() != 4 * model.width() ||
      !catalog::IsImplied(ImpliedEncoding::kLinearBias, encoding)) {
    return std::nullopt;
  }
  return WriteShared(BloomKeys(), model);
}

TensorNames BloomNames() {
  TensorNames names;
  names.prefix = "transformer.";
  names.rules = {
      {"word_embeddings.weight", {"model.embed_tokens.weight"}},
      {"/lm_head.weight", {"lm_head.weight"}},
  };
  AddRules("word_embeddings_layernorm", {"model.embed_norm"}, Layout::kSame,
           &names.rules);
  AddRules("ln_f", {"model.norm"}, Layout::kSame, &names.rules);
  AddLayer({"h.#.", "input_layernorm", "self_attention.query_key_value",
            "self_attention.dense", "post_attention_layernorm",
            "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"},
           Layout::kJoinedByHead, Layout::kSame, &names.rules);
  return names;
}

// The object attn_config.
void ReadMptAttention(ConfigKeys* keys) {
  const Json json = keys->Value("attn_config");
  if (!json.is_object()) {
    keys->Refuse("attn_config", "required");
    return;
  }
  ConfigKeys inner(json);
  inner.Require("attn_type", "multihead_attention");
  for (const char* key : {"qk_ln", "prefix_lm", "rope"}) {
    inner.Require(key, false);
  }
  for (const char* key : {"clip_qkv", "softmax_scale"}) {
    inner.Require(key, Json());
  }
  if (!inner.BoolOr("alibi", false)) {
    inner.Refuse("alibi", "false is not supported, only true");
  }
  inner.Require("alibi_bias_max", 8);
  inner.Require("sliding_window_size", -1);
  inner.Ignore({"attn_impl", "attn_pdrop", "attn_uses_sequence_id"});
  keys->Merge(inner, "attn_config.");
}

const SharedKeys& MptKeys() {
  static const auto* const keys = new SharedKeys{
      {"n_layers"}, {"d_model"}, {"n_heads"}, "layer_norm_epsilon", 1e-5, true};
  return *keys;
}

absl::StatusOr<ForeignConfig> ReadMpt(const Json& json,
                                      const Component* given) {
  ConfigKeys keys(json);
  ForeignConfig config;
  Model& model = config.model;
  ReadShared(MptKeys(), &keys, &model);
  model.set_mlp_width(keys.IntegerOr("expansion_ratio", 4) * model.width());
  keys.Require("tie_word_embeddings", true);
  model.set_mlp("gelu");
  SetBiases(false, &model);
  keys.Require("no_bias", true);
  keys.Require("logit_scale", Json());
  if (given == nullptr) {
    ReadMptAttention(&keys);
    config.encoding = catalog::FromImplied(ImpliedEncoding::kLinearBias, 0);
  } else {
    config.encoding = *given;
    keys.Ignore({"attn_config"});
  }
  const std::string norm =
      keys.StringOr("norm_type", "low_precision_layernorm");
  if (norm != "low_precision_layernorm" && norm != "layernorm") {
    keys.Refuse("norm_type", norm + " is not supported");
  }
  keys.Ignore({"emb_pdrop", "embedding_fraction", "init_config", "init_device",
               "learned_pos_emb", "max_seq_len", "resid_pdrop", "verbose"});
  return Finished(config, keys);
}

std::optional<Json> WriteMpt(const Model& model, const Component& encoding) {
  if (!IsGpt(model) || !HasBiases(model, false) || model.embedding_norm() ||
      model.parallel_residual() || model.mlp() != "gelu" ||
      model.mlp_width() % model.width() != 0 || !model.tie_embeddings() ||
      !catalog::IsImplied(ImpliedEncoding::kLinearBias, encoding)) {
    return std::nullopt;
  }
  Json json = WriteShared(MptKeys(), model);
  json["expansion_ratio"] = model.mlp_width() / model.width();
  json["no_bias"] = true;
  json["attn_config"] = {{"alibi", true}, {"alibi_bias_max", 8}};
  return json;
}

TensorNames MptNames() {
  TensorNames names;
  names.prefix = "transformer.";
  names.rules = {
      {"wte.weight", {"model.embed_tokens.weight"}},
      {"/lm_head.weight", {"lm_head.weight"}},
  };
  AddRules("norm_f", {"model.norm"}, Layout::kSame, &names.rules);
  AddLayer({"blocks.#.", "norm_1", "attn.Wqkv", "attn.out_proj", "norm_2",
            "ffn.up_proj", "ffn.down_proj"},
           Layout::kJoined, Layout::kSame, &names.rules);
  return names;
}

}  // namespace

std::vector<Family> GptFamilies() {
  return {{"gpt2", "GPT2LMHeadModel", ReadGpt2, WriteGpt2, Gpt2Names},
          {"gpt_neox", "GPTNeoXForCausalLM", ReadGptNeox, WriteGptNeox,
           GptNeoxNames},
          {"bloom", "BloomForCausalLM", ReadBloom, WriteBloom, BloomNames},
          {"mpt", "MptForCausalLM", ReadMpt, WriteMpt, MptNames}};
}

}  // namespace ordo::model::formats
