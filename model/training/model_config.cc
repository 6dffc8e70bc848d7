#include "model/training/model_config.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "model/catalog/catalog.h"
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

Json ToJson(const google::protobuf::Message& message) {
  return Json::parse(base::WriteMessage(message, base::TextForm::kJson),
                     nullptr, /*allow_exceptions=*/false);
}

// Tokens of the longest row; 0: not known. Nothing is read for it.
int RowLengthOf(const ordo::training::v1::Data& data) {
  const auto* entry = catalog::Find(catalog::Kind::kTrainingTask, data.task());
  if (entry == nullptr || entry->row_length == nullptr) return 0;
  catalog::ParamMap params = data.params();
  std::vector<base::FieldViolation> violations;
  catalog::ResolveParams(*entry, "data", &params, &violations);
  // The last token is not read.
  return violations.empty() ? static_cast<int>(entry->row_length(params)) + 1
                            : 0;
}

// The kind of model, of those with Ordo's names of tensors, that computes the
// same from the same weights; nullptr when there is none.
const formats::Family* FamilyOf(const ModelConfig& config) {
  if (config.lora) return nullptr;
  const formats::Family* family =
      formats::FamilyOf(config.model, config.encoding);
  return family != nullptr && family->names == nullptr ? family : nullptr;
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
  if (const int length = RowLengthOf(config.data);
      length > 0 && !json.contains("max_position_embeddings")) {
    json["max_position_embeddings"] = length;
  }
  // What a tokenizer in a file has is not known here.
  if (const auto tokenizer = tasks::MakeTokenizer(config.data);
      tokenizer.ok() && (*tokenizer)->has_marks()) {
    json["pad_token_id"] = tasks::kPad;
    json["bos_token_id"] = tasks::kBegin;
    json["eos_token_id"] = tasks::kEnd;
  }
  json["torch_dtype"] = "float32";
  json[formats::kOwnKey]["model"] = ToJson(config.model);
  json[formats::kOwnKey]["encoding"] = ToJson(config.encoding);
  if (!config.data.task().empty())
    json[formats::kOwnKey]["data"] = ToJson(config.data);
  if (config.lora) json[formats::kOwnKey]["lora"] = ToJson(*config.lora);
  return json.dump(2) + "\n";
}

absl::StatusOr<ModelConfig> ParseModelConfig(const std::string& text,
                                             const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(formats::ConfigFile parsed,
                        formats::ParseConfigFile(text, nullptr, path));
  return std::move(parsed.config);
}

absl::StatusOr<LoadedModel> LoadModel(base::Filesystem& files,
                                      const std::string& folder,
                                      const std::string& manifest_sha256,
                                      const LoadOptions& options) {
  const std::string manifest = base::JoinPath(folder, kManifestFile);
  if (!manifest_sha256.empty() || base::Exists(files, manifest)) {
    const bool is_sharded =
        !base::Exists(files, base::JoinPath(folder, kModelFile)) &&
        base::Exists(files, base::JoinPath(folder, formats::kIndexFile));
    ORDO_RETURN_IF_ERROR(VerifyManifest(
        files, folder, manifest_sha256,
        {kConfigFile, is_sharded ? formats::kIndexFile : kModelFile}));
  }
  ORDO_ASSIGN_OR_RETURN(
      formats::ConfigFile parsed,
      formats::ReadConfigFile(files, folder, options.encoding));
  LoadedModel loaded;
  loaded.config = std::move(parsed.config);
  ORDO_ASSIGN_OR_RETURN(TensorMap tensors, formats::ReadWeights(files, folder));
  if (parsed.family != nullptr) {
    ORDO_ASSIGN_OR_RETURN(
        tensors,
        base::AddContext(ToOurNames(*parsed.family, loaded.config, tensors),
                         folder));
  }
  parameters::ParameterOptions parameters;
  parameters.device = options.device;
  ORDO_ASSIGN_OR_RETURN(
      loaded.transformer,
      transformer::Transformer::Create(loaded.config.model,
                                       loaded.config.encoding, parameters));
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
