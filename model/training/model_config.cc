#include "model/training/model_config.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/catalog/resolve.h"
#include "model/guard.h"
#include "model/tasks/registry.h"
#include "model/training/adamw.h"
#include "model/training/durable_folder.h"
#include "model/training/safetensors.h"
#include "model/training/snapshot.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr char kOwnKey[] = "ordo";

Json ToJson(const google::protobuf::Message& message) {
  return Json::parse(base::WriteMessage(message, base::TextForm::kJson),
                     nullptr, /*allow_exceptions=*/false);
}

absl::Status FromJson(const Json& json, google::protobuf::Message* message) {
  return base::ReadMessage(json.dump(), base::TextForm::kJson, message);
}

template <typename T>
T ParamOr(
    const google::protobuf::Map<std::string, google::protobuf::Value>& params,
    const std::string& name, T fallback) {
  const auto found = params.find(name);
  if (found == params.end()) return fallback;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->second.string_value();
  } else {
    return found->second.number_value();
  }
}

// The component that says the rotary frequencies; null when there is none.
const ordo::training::v1::Component* RotaryPart(
    const ordo::training::v1::Component& encoding) {
  if (encoding.name() == "rope") return &encoding;
  for (const auto& part : encoding.with()) {
    if (part.name() == "rope") return &part;
  }
  return nullptr;
}

// Whether Hugging Face's Llama computes the same from the same weights.
bool IsLlama(const ModelConfig& config) {
  const auto& params = config.encoding.params();
  return config.encoding.name() == "rope" && config.encoding.with().empty() &&
         ParamOr<double>(params, "partial", 1.0) == 1.0 &&
         ParamOr<std::string>(params, "layout", "half_split") == "half_split" &&
         config.model.norm() == "rmsnorm" && config.model.mlp() == "swiglu" &&
         !config.model.qk_norm() && config.model.causal();
}

absl::Status NotRebuildable(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("rebuild the model of ", path, ": ", what));
}

// Without the keys whose value is null, which means the same to Hugging Face.
Json WithoutNulls(const Json& json) {
  Json present = Json::object();
  for (const auto& [key, value] : json.items()) {
    if (!value.is_null()) present[key] = value;
  }
  return present;
}

absl::StatusOr<int> Integer(const Json& json, const std::string& key,
                            const std::string& path) {
  const auto found = json.find(key);
  if (found != json.end() && found->is_number_integer()) {
    const int64_t value = *found;
    if (value >= 0 && value <= std::numeric_limits<int>::max()) {
      return static_cast<int>(value);
    }
  }
  return NotRebuildable(path, absl::StrCat(key, " is not a size"));
}

// The base of rope's frequencies, which newer files say under
// "rope_parameters".
absl::StatusOr<double> RopeTheta(const Json& json, const std::string& path) {
  double theta = json.value("rope_theta", 10000.0);
  for (const char* key : {"rope_parameters", "rope_scaling"}) {
    if (!json.contains(key)) continue;
    for (const auto& [name, value] : json[key].items()) {
      if (name == "rope_theta") {
        theta = value;
      } else if ((name != "rope_type" && name != "type") ||
                 value != "default") {
        return NotRebuildable(path,
                              absl::StrCat(key, ".", name, ": ", value.dump(),
                                           " is not supported"));
      }
    }
  }
  return theta;
}

// What Llama's configuration allows and the transformer cannot do.
absl::Status CheckLlama(const Json& json, const std::string& path) {
  if (json.value("model_type", "") != "llama") {
    return NotRebuildable(path,
                          "model_type is not 'llama' and there is no "
                          "key 'ordo'");
  }
  if (json.value("hidden_act", "silu") != "silu") {
    return NotRebuildable(
        path, absl::StrCat("hidden_act: ", json["hidden_act"].dump(),
                           " is not supported, only silu"));
  }
  for (const char* bias : {"attention_bias", "mlp_bias"}) {
    if (json.value(bias, false)) {
      return NotRebuildable(path, absl::StrCat(bias, " is not supported"));
    }
  }
  if (json.value("partial_rotary_factor", 1.0) != 1.0) {
    return NotRebuildable(path, "partial_rotary_factor is not supported");
  }
  return absl::OkStatus();
}

// A Llama of another program.
absl::StatusOr<ModelConfig> ParseLlama(const Json& json,
                                       const std::string& path) {
  ORDO_RETURN_IF_ERROR(CheckLlama(json, path));
  ORDO_ASSIGN_OR_RETURN(const int heads,
                        Integer(json, "num_attention_heads", path));
  ORDO_ASSIGN_OR_RETURN(const int width, Integer(json, "hidden_size", path));
  if (heads == 0 || width % heads != 0) {
    return NotRebuildable(path,
                          "hidden_size must be a multiple of "
                          "num_attention_heads");
  }
  if (json.value("head_dim", width / heads) != width / heads) {
    return NotRebuildable(path,
                          "head_dim times num_attention_heads must be "
                          "hidden_size");
  }
  ModelConfig config;
  ORDO_ASSIGN_OR_RETURN(const int layers,
                        Integer(json, "num_hidden_layers", path));
  ORDO_ASSIGN_OR_RETURN(const int mlp_width,
                        Integer(json, "intermediate_size", path));
  ORDO_ASSIGN_OR_RETURN(const int vocabulary,
                        Integer(json, "vocab_size", path));
  ORDO_ASSIGN_OR_RETURN(const double theta, RopeTheta(json, path));
  config.model.set_layers(layers);
  config.model.set_width(width);
  config.model.set_heads(heads);
  config.model.set_key_value_heads(json.value("num_key_value_heads", heads));
  config.model.set_mlp_width(mlp_width);
  config.model.set_vocabulary_size(vocabulary);
  config.model.set_norm_epsilon(json.value("rms_norm_eps", 1e-6));
  config.model.set_tie_embeddings(json.value("tie_word_embeddings", false));
  config.encoding.set_name("rope");
  (*config.encoding.mutable_params())["base"].set_number_value(theta);
  return config;
}

absl::StatusOr<ModelConfig> ParseOwn(const Json& json,
                                     const std::string& path) {
  ModelConfig config;
  ORDO_RETURN_IF_ERROR(
      base::AddContext(FromJson(json.at("model"), &config.model), path));
  ORDO_RETURN_IF_ERROR(
      base::AddContext(FromJson(json.at("encoding"), &config.encoding), path));
  if (json.contains("data")) {
    ORDO_RETURN_IF_ERROR(
        base::AddContext(FromJson(json["data"], &config.data), path));
  }
  return config;
}

// Weights as the model wants them: fp32, without what Llama files carry beside
// them.
TensorMap ToModelWeights(TensorMap tensors, bool tied) {
  TensorMap weights;
  for (auto& [name, tensor] : tensors) {
    if (absl::EndsWith(name, "rotary_emb.inv_freq")) continue;
    if (tied && name == "lm_head.weight") continue;
    weights.emplace(name, tensor.to(at::kFloat));
  }
  return weights;
}

}  // namespace

std::string WriteModelConfig(const ModelConfig& config) {
  const auto& model = config.model;
  Json json;
  if (IsLlama(config)) {
    json["architectures"] = {"LlamaForCausalLM"};
    json["model_type"] = "llama";
  } else {
    json["model_type"] = "ordo";
  }
  json["hidden_size"] = model.width();
  json["intermediate_size"] = model.mlp_width();
  json["num_hidden_layers"] = model.layers();
  json["num_attention_heads"] = model.heads();
  json["num_key_value_heads"] = model.key_value_heads();
  json["head_dim"] = model.width() / model.heads();
  json["hidden_act"] = model.mlp() == "swiglu" ? "silu" : "gelu";
  json["rms_norm_eps"] = model.norm_epsilon();
  if (const auto* rotary = RotaryPart(config.encoding)) {
    json["rope_theta"] = ParamOr<double>(rotary->params(), "base", 10000.0);
  }
  json["initializer_range"] = model.init_std();
  json["tie_word_embeddings"] = model.tie_embeddings();
  json["attention_bias"] = false;
  json["mlp_bias"] = false;
  json["vocab_size"] = model.vocabulary_size();
  if (const auto task = tasks::MakeTrainingTask(config.data); task.ok()) {
    json["max_position_embeddings"] = (*task)->row_length();
    json["pad_token_id"] = tasks::kPad;
    json["bos_token_id"] = tasks::kBegin;
    json["eos_token_id"] = tasks::kEnd;
  }
  json["torch_dtype"] = "float32";
  json[kOwnKey]["model"] = ToJson(config.model);
  json[kOwnKey]["encoding"] = ToJson(config.encoding);
  if (!config.data.task().empty()) json[kOwnKey]["data"] = ToJson(config.data);
  return json.dump(2) + "\n";
}

absl::StatusOr<ModelConfig> ParseModelConfig(const std::string& text,
                                             const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return DamagedFile(path, "it is not JSON");
  }
  ModelConfig config;
  try {
    if (json.contains(kOwnKey)) {
      ORDO_ASSIGN_OR_RETURN(config, ParseOwn(json.at(kOwnKey), path));
    } else {
      ORDO_ASSIGN_OR_RETURN(config, ParseLlama(WithoutNulls(json), path));
    }
  } catch (const Json::exception& error) {
    return NotRebuildable(path, error.what());
  }
  std::vector<base::FieldViolation> violations;
  catalog::ResolveModel("model", 0, &config.model, &violations);
  catalog::ResolveEncoding("encoding", config.model, &config.encoding,
                           &violations);
  ORDO_RETURN_IF_ERROR(base::AddContext(base::InvalidFields(violations), path));
  return config;
}

absl::StatusOr<LoadedModel> LoadModel(base::Filesystem& files,
                                      const std::string& folder,
                                      const std::string& manifest_sha256) {
  const std::string manifest = base::JoinPath(folder, kManifestFile);
  if (!manifest_sha256.empty() || base::Exists(files, manifest)) {
    ORDO_RETURN_IF_ERROR(VerifyManifest(files, folder, manifest_sha256,
                                        {kConfigFile, kModelFile}));
  }
  const std::string config_path = base::JoinPath(folder, kConfigFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, config_path, kMaxConfigBytes));
  LoadedModel loaded;
  ORDO_ASSIGN_OR_RETURN(loaded.config, ParseModelConfig(text, config_path));
  const std::string weights_path = base::JoinPath(folder, kModelFile);
  ORDO_ASSIGN_OR_RETURN(TensorMap tensors,
                        ReadSafetensors(files, weights_path));
  ORDO_ASSIGN_OR_RETURN(loaded.transformer,
                        transformer::Transformer::Create(
                            loaded.config.model, loaded.config.encoding, {}));
  ORDO_RETURN_IF_ERROR(Guard("load weights", [&] {
    return CopyTensors(ToModelWeights(std::move(tensors),
                                      loaded.config.model.tie_embeddings()),
                       ParametersOf(*loaded.transformer),
                       absl::StrCat("load weights of ", weights_path));
  }));
  return loaded;
}

}  // namespace ordo::model::training
