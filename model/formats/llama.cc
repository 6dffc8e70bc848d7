#include "model/formats/llama.h"

#include <string>

#include "model/formats/rope_keys.h"

namespace ordo::model::formats {
namespace {

using ordo::training::v1::Component;
using ordo::training::v1::Model;

// Head width of a qwen3 whose file does not say.
constexpr int kQwen3HeadWidth = 128;
// Window of a mistral whose file does not say, null aside.
constexpr int kMistralWindow = 4096;

// Where the four differ in what a file may leave out.
struct Defaults {
  // 0: width / heads.
  int head_width = 0;
  // The file says the number of key heads.
  bool says_key_heads = true;
  int max_positions = 32768;
};

const SharedKeys& LlamaKeys() {
  static const auto* const keys = new SharedKeys{{"num_hidden_layers"},
                                                 {"hidden_size"},
                                                 {"num_attention_heads"},
                                                 "rms_norm_eps",
                                                 1e-6,
                                                 false};
  return *keys;
}

// The keys of all four.
ForeignConfig ReadLlamas(const Defaults& defaults, const Component* given,
                         ConfigKeys* keys) {
  ForeignConfig config;
  Model& model = config.model;
  ReadShared(LlamaKeys(), keys, &model);
  model.set_key_value_heads(
      defaults.says_key_heads
          ? keys->Integer({"num_key_value_heads"})
          : keys->IntegerOr("num_key_value_heads", model.heads()));
  const int head_width = keys->IntegerOr("head_dim", defaults.head_width);
  if (head_width > 0) model.set_head_width(head_width);
  model.set_mlp_width(keys->Integer({"intermediate_size"}));
  keys->Require("hidden_act", "silu");
  RopeDefaults rope;
  rope.max_positions = defaults.max_positions;
  config.encoding = ReadRope(rope, given, keys);
  return config;
}

absl::StatusOr<ForeignConfig> ReadLlama(const Json& json,
                                        const Component* given) {
  ConfigKeys keys(json);
  if (given == nullptr && keys.Has("rpe_type")) {
    keys.Refuse("rpe_type",
                "says the encoding without its parameters; give the encoding "
                "beside the checkpoint, as by --encoding");
  }
  Defaults defaults;
  defaults.says_key_heads = false;
  defaults.max_positions = 2048;
  ForeignConfig config = ReadLlamas(defaults, given, &keys);
  if (keys.BoolOr("attention_bias", false)) {
    config.model.set_attention_bias("all");
  }
  config.model.set_mlp_bias(keys.BoolOr("mlp_bias", false));
  // The public code of the TAPE paper: what a given encoding says itself.
  if (given != nullptr) {
    keys.Ignore({"position_size", "relative_attention_max_distance",
                 "relative_attention_num_buckets", "rpe_type", "train_scale",
                 "use_flash_attention_2"});
    keys.Require("log_scale", false);
  }
  return Finished(config, keys);
}

absl::StatusOr<ForeignConfig> ReadMistral(const Json& json,
                                          const Component* given) {
  ConfigKeys keys(json);
  Defaults defaults;
  defaults.max_positions = 131072;
  ForeignConfig config = ReadLlamas(defaults, given, &keys);
  config.model.set_sliding_window(keys.IntegerOr(
      "sliding_window", keys.Has("sliding_window") ? 0 : kMistralWindow));
  return Finished(config, keys);
}

// Windows of qwen2 and qwen3: of all layers or of none.
void ReadQwenWindow(ConfigKeys* keys, Model* model) {
  const int window = keys->IntegerOr("sliding_window", 4096);
  const bool used = keys->BoolOr("use_sliding_window", false);
  const Json first = keys->Value("max_window_layers");
  const Json types = keys->Value("layer_types");
  if (types.is_array()) {
    for (const Json& type : types) {
      if (type != types.front() ||
          (type != "full_attention" && type != "sliding_attention")) {
        keys->Refuse("layer_types", "layers that differ are not supported");
        return;
      }
    }
    if (!types.empty() && types.front() == "sliding_attention") {
      model->set_sliding_window(window);
    }
    return;
  }
  if (!used) return;
  const int from = first.is_number_integer() ? first.get<int>() : 28;
  if (from == 0) {
    model->set_sliding_window(window);
  } else if (from < model->layers()) {
    keys->Refuse("max_window_layers",
                 "a window in some of the layers is not supported");
  }
}

absl::StatusOr<ForeignConfig> ReadQwen2(const Json& json,
                                        const Component* given) {
  ConfigKeys keys(json);
  ForeignConfig config = ReadLlamas({}, given, &keys);
  config.model.set_attention_bias("qkv");
  ReadQwenWindow(&keys, &config.model);
  keys.Require("use_mrope", false);
  return Finished(config, keys);
}

absl::StatusOr<ForeignConfig> ReadQwen3(const Json& json,
                                        const Component* given) {
  ConfigKeys keys(json);
  Defaults defaults;
  defaults.head_width = kQwen3HeadWidth;
  ForeignConfig config = ReadLlamas(defaults, given, &keys);
  config.model.set_qk_norm(true);
  if (keys.BoolOr("attention_bias", false)) {
    config.model.set_attention_bias("all");
  }
  ReadQwenWindow(&keys, &config.model);
  return Finished(config, keys);
}

// What all four compute; nothing where they cannot.
std::optional<Json> WriteLlamas(const Model& model, const Component& encoding) {
  if (model.norm() != "rmsnorm" || model.mlp() != "swiglu" || !model.causal() ||
      model.embedding_norm() || model.parallel_residual()) {
    return std::nullopt;
  }
  Json json = WriteShared(LlamaKeys(), model);
  json["intermediate_size"] = model.mlp_width();
  json["num_key_value_heads"] = model.key_value_heads();
  json["head_dim"] = model.head_width();
  json["hidden_act"] = "silu";
  if (!WriteRope(encoding, &json) || json.contains("partial_rotary_factor")) {
    return std::nullopt;
  }
  return json;
}

std::optional<Json> WriteLlama(const Model& model, const Component& encoding) {
  auto json = WriteLlamas(model, encoding);
  if (!json || model.qk_norm() || model.attention_bias() == "qkv" ||
      model.sliding_window() > 0) {
    return std::nullopt;
  }
  (*json)["attention_bias"] = model.attention_bias() == "all";
  (*json)["mlp_bias"] = model.mlp_bias();
  return json;
}

std::optional<Json> WriteMistral(const Model& model,
                                 const Component& encoding) {
  auto json = WriteLlamas(model, encoding);
  if (!json || model.qk_norm() || model.mlp_bias() ||
      model.attention_bias() != "none" || model.sliding_window() == 0) {
    return std::nullopt;
  }
  (*json)["sliding_window"] = model.sliding_window();
  return json;
}

std::optional<Json> WriteQwen(const Model& model, const Component& encoding) {
  auto json = WriteLlamas(model, encoding);
  if (!json || model.mlp_bias()) return std::nullopt;
  (*json)["use_sliding_window"] = model.sliding_window() > 0;
  if (model.sliding_window() > 0) {
    (*json)["sliding_window"] = model.sliding_window();
    (*json)["max_window_layers"] = 0;
  }
  return json;
}

std::optional<Json> WriteQwen2(const Model& model, const Component& encoding) {
  if (model.qk_norm() || model.attention_bias() != "qkv" ||
      // Which this kind does not know.
      int64_t{model.heads()} * model.head_width() != model.width()) {
    return std::nullopt;
  }
  return WriteQwen(model, encoding);
}

std::optional<Json> WriteQwen3(const Model& model, const Component& encoding) {
  if (!model.qk_norm() || model.attention_bias() == "qkv") return std::nullopt;
  auto json = WriteQwen(model, encoding);
  if (json) (*json)["attention_bias"] = model.attention_bias() == "all";
  return json;
}

}  // namespace

std::vector<Family> LlamaFamilies() {
  return {{"llama", "LlamaForCausalLM", ReadLlama, WriteLlama},
          {"mistral", "MistralForCausalLM", ReadMistral, WriteMistral},
          {"qwen2", "Qwen2ForCausalLM", ReadQwen2, WriteQwen2},
          {"qwen3", "Qwen3ForCausalLM", ReadQwen3, WriteQwen3}};
}

}  // namespace ordo::model::formats
