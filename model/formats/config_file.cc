#include "model/formats/config_file.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files/file_util.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/text/json_depth.h"
#include "base/yaml/text_form.h"
#include "model/catalog/fine_tuning.h"
#include "model/catalog/resolve_model.h"
#include "nlohmann/json.hpp"

namespace ordo::model::formats {
namespace {

using ordo::training::v1::Component;

constexpr size_t kMaxConfigBytes = 1 << 20;

absl::Status FromJson(const Json& json, google::protobuf::Message* message) {
  return base::ReadMessage(json.dump(), base::TextForm::kJson, message);
}

absl::Status NotRebuildable(const std::string& path, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("rebuild the model of ", path, ": ", what));
}

// A model of another program, whose kind is `model_type`.
absl::StatusOr<ConfigFile> ParseForeign(const Json& json,
                                        const Component* given,
                                        const std::string& path) {
  const auto type = json.find("model_type");
  const std::string name =
      type != json.end() && type->is_string() ? type->get<std::string>() : "";
  ConfigFile parsed;
  parsed.family = FindFamily(name);
  if (parsed.family == nullptr) {
    std::vector<std::string> known;
    for (const auto& family : Families()) {
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

absl::StatusOr<ConfigFile> ParseOwn(const Json& json, const Component* given,
                                    const std::string& path) {
  ConfigFile parsed;
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

}  // namespace

absl::StatusOr<ConfigFile> ParseConfigFile(const std::string& text,
                                           const Component* given,
                                           const std::string& path) {
  const Json json =
      base::NestsTooDeep(text)
          ? Json()
          : Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return absl::DataLossError(
        absl::StrCat(path, " is damaged: it is not JSON, or nested too deep"));
  }
  ConfigFile parsed;
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

absl::StatusOr<ConfigFile> ReadConfigFile(base::Filesystem& files,
                                          const std::string& folder,
                                          const Component* given) {
  const std::string path = base::JoinPath(folder, kConfigFile);
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxConfigBytes));
  return ParseConfigFile(text, given, path);
}

}  // namespace ordo::model::formats
