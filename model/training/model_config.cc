#include "model/training/model_config.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/resolve.h"
#include "model/formats/families.h"
#include "model/formats/weights.h"
#include "model/guard.h"
#include "model/tasks/registry.h"
#include "model/training/adamw.h"
#include "model/training/durable_folder.h"
#include "model/training/snapshot.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

using Json = nlohmann::ordered_json;
using ordo::training::v1::Component;

constexpr size_t kMaxConfigBytes = 1 << 20;
constexpr char kOwnKey[] = "ordo";

Json ToJson(const google::protobuf::Message& message) {
  return Json::parse(base::WriteMessage(message, base::TextForm::kJson),
                     nullptr, /*allow_exceptions=*/false);
}

absl::Status FromJson(const Json& json, google::protobuf::Message* message) {
  return base::ReadMessage(json.dump(), base::TextForm::kJson, message);
}

// The kind of model, of those with Ordo's names of tensors, that computes the
// same from the same weights; nullptr when there is none.
const formats::Family* FamilyOf(const ModelConfig& config) {
  if (config.lora) return nullptr;
  const formats::Family* family =
      formats::FamilyOf(config.model, config.encoding);
  return family != nullptr && family->names == nullptr ? family : nullptr;
}

// What a config.json says.
struct ParsedConfig {
  ModelConfig config;
  // Null: Ordo's own.
  const formats::Family* family = nullptr;
};

absl::Status NotRebuildable(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("rebuild the model of ", path, ": ", what));
}

// A model of another program, whose kind is `model_type`.
absl::StatusOr<ParsedConfig> ParseForeign(const Json& json,
                                          const Component* given,
                                          const std::string& path) {
  const auto type = json.find("model_type");
  const std::string name =
      type != json.end() && type->is_string() ? type->get<std::string>() : "";
  ParsedConfig parsed;
  parsed.family = formats::FindFamily(name);
  if (parsed.family == nullptr) {
    std::vector<std::string> known;
    for (const auto& family : formats::Families()) {
      known.push_back(family.model_type);
    }
    return NotRebuildable(
        path, absl::StrCat("model_type: '", name, "' is not one of ",
                           absl::StrJoin(known, ", "),
                           " and there is no key 'ordo'"));
  }
  const auto config = parsed.family->read(json, given);
  if (!config.ok()) {
    return NotRebuildable(path, std::string(config.status().message()));
  }
  parsed.config.model = config->model;
  parsed.config.encoding = config->encoding;
  return parsed;
}

absl::StatusOr<ParsedConfig> ParseOwn(const Json& json, const Component* given,
                                      const std::string& path) {
  ParsedConfig parsed;
  ModelConfig& config = parsed.config;
  ORDO_RETURN_IF_ERROR(
      base::AddContext(FromJson(json.at("model"), &config.model), path));
  ORDO_RETURN_IF_ERROR(
      base::AddContext(FromJson(json.at("encoding"), &config.encoding), path));
  if (json.contains("data")) {
    ORDO_RETURN_IF_ERROR(
        base::AddContext(FromJson(json["data"], &config.data), path));
  }
  if (json.contains("lora")) {
    ORDO_RETURN_IF_ERROR(
        base::AddContext(FromJson(json["lora"], &config.lora.emplace()), path));
  }
  if (given != nullptr) config.encoding = *given;
  return parsed;
}

// `given` takes the place of the file's encoding unless it is null.
absl::StatusOr<ParsedConfig> Parse(const std::string& text,
                                   const Component* given,
                                   const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return DamagedFile(path, "it is not JSON");
  }
  ParsedConfig parsed;
  try {
    if (json.contains(kOwnKey)) {
      ORDO_ASSIGN_OR_RETURN(parsed, ParseOwn(json.at(kOwnKey), given, path));
    } else {
      ORDO_ASSIGN_OR_RETURN(parsed, ParseForeign(json, given, path));
    }
  } catch (const Json::exception& error) {
    return NotRebuildable(path, error.what());
  }
  std::vector<base::FieldViolation> violations;
  catalog::ResolveModel("model", 0, &parsed.config.model, &violations);
  catalog::ResolveEncoding("encoding", parsed.config.model,
                           &parsed.config.encoding, &violations);
  if (parsed.config.lora) {
    ordo::training::v1::Training training;
    *training.mutable_lora() = *parsed.config.lora;
    catalog::ResolveFineTuning("", &training, &violations);
    catalog::CheckFineTuning("", training, parsed.config.model, &violations);
    parsed.config.lora = training.lora();
  }
  ORDO_RETURN_IF_ERROR(base::AddContext(base::InvalidFields(violations), path));
  return parsed;
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

absl::StatusOr<TensorMap> ToOurNames(const formats::Family& family,
                                     const ModelConfig& config,
                                     const TensorMap& tensors) {
  formats::TensorNames names;
  names.others_keep_theirs = true;
  if (family.names != nullptr) names = family.names();
  return Guard("rename weights", [&] {
    return formats::ImportTensors(names, config.model, config.encoding,
                                  tensors);
  });
}

}  // namespace

std::string WriteModelConfig(const ModelConfig& config) {
  const auto& model = config.model;
  Json json;
  const formats::Family* family = FamilyOf(config);
  if (family != nullptr) {
    json["architectures"] = {family->architecture};
    json["model_type"] = family->model_type;
    json.update(*family->write(model, config.encoding));
  } else {
    json["model_type"] = "ordo";
    json["hidden_size"] = model.width();
    json["num_hidden_layers"] = model.layers();
    json["num_attention_heads"] = model.heads();
    json["vocab_size"] = model.vocabulary_size();
  }
  if (const auto task = tasks::MakeTrainingTask(config.data); task.ok()) {
    if (!json.contains("max_position_embeddings")) {
      json["max_position_embeddings"] = (*task)->row_length();
    }
    json["pad_token_id"] = tasks::kPad;
    json["bos_token_id"] = tasks::kBegin;
    json["eos_token_id"] = tasks::kEnd;
  }
  json["torch_dtype"] = "float32";
  json[kOwnKey]["model"] = ToJson(config.model);
  json[kOwnKey]["encoding"] = ToJson(config.encoding);
  if (!config.data.task().empty()) json[kOwnKey]["data"] = ToJson(config.data);
  if (config.lora) json[kOwnKey]["lora"] = ToJson(*config.lora);
  return json.dump(2) + "\n";
}

absl::StatusOr<ModelConfig> ParseModelConfig(const std::string& text,
                                             const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(ParsedConfig parsed, Parse(text, nullptr, path));
  return std::move(parsed.config);
}

absl::StatusOr<LoadedModel> LoadModel(base::Filesystem& files,
                                      const std::string& folder,
                                      const std::string& manifest_sha256,
                                      const Component* encoding) {
  const std::string manifest = base::JoinPath(folder, kManifestFile);
  if (!manifest_sha256.empty() || base::Exists(files, manifest)) {
    ORDO_RETURN_IF_ERROR(VerifyManifest(files, folder, manifest_sha256,
                                        {kConfigFile, kModelFile}));
  }
  const std::string config_path = base::JoinPath(folder, kConfigFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, config_path, kMaxConfigBytes));
  LoadedModel loaded;
  ORDO_ASSIGN_OR_RETURN(ParsedConfig parsed,
                        Parse(text, encoding, config_path));
  loaded.config = std::move(parsed.config);
  ORDO_ASSIGN_OR_RETURN(TensorMap tensors, formats::ReadWeights(files, folder));
  if (parsed.family != nullptr) {
    ORDO_ASSIGN_OR_RETURN(
        tensors,
        base::AddContext(ToOurNames(*parsed.family, loaded.config, tensors),
                         folder));
  }
  ORDO_ASSIGN_OR_RETURN(loaded.transformer,
                        transformer::Transformer::Create(
                            loaded.config.model, loaded.config.encoding, {}));
  ORDO_RETURN_IF_ERROR(Guard("load weights", [&] {
    if (loaded.config.lora)
      loaded.transformer->AddAdapters(*loaded.config.lora);
    return CopyTensors(ToModelWeights(std::move(tensors),
                                      loaded.config.model.tie_embeddings()),
                       ParametersOf(*loaded.transformer),
                       absl::StrCat("load weights of ", folder));
  }));
  return loaded;
}

}  // namespace ordo::model::training
