#include "services/checkpoints/folder_check.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/text/json_depth.h"
#include "model/formats/config_file.h"
#include "model/formats/safetensors_header.h"
#include "nlohmann/json.hpp"
#include "services/checkpoints/upload_list.h"

namespace ordo::services::checkpoints {
namespace {

using Json = nlohmann::ordered_json;
using model::formats::kConfigFile;
using ordo::checkpoints::v1::Upload;
using ordo::checkpoints::v1::UploadFile;
// Names of tensors by file.
using Tensors = std::map<std::string, std::set<std::string>>;

// An entry for each tensor of a large model.
constexpr size_t kMaxIndexBytes = 64 << 20;
constexpr size_t kMaxJsonBytes = 8 << 20;

// What the user has to put right: the file is as it was sent.
absl::Status NotRight(const absl::Status& status) {
  if (!absl::IsDataLoss(status)) return status;
  return absl::InvalidArgumentError(status.message());
}

absl::Status NotRight(const std::string& file, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": ", what));
}

absl::StatusOr<Json> ReadJson(base::Filesystem& files,
                              const std::string& folder,
                              const std::string& name, size_t max_bytes) {
  ORDO_ASSIGN_OR_RETURN(
      const std::string text,
      base::ReadFile(files, base::JoinPath(folder, name), max_bytes));
  if (base::NestsTooDeep(text)) return NotRight(name, "it is nested too deep");
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return NotRight(name, "it is not a JSON object");
  return json;
}

// What keeps a folder out that has to name its encoding. Some programs do not
// write theirs; what they write instead is understood beside one that is given.
absl::Status ConfigNotRight(const absl::Status& status, const Json& config) {
  ordo::training::v1::Component given;
  given.set_name("none");
  if (!model::formats::ParseConfigFile(config.dump(), &given, kConfigFile)
           .ok()) {
    return NotRight(status);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      status.message(),
      "; to take it here, convert the folder first and take OWN: ordo-trainer "
      "convert --checkpoint DIR --encoding ENCODING --out OWN"));
}

absl::StatusOr<Tensors> ReadHeaders(base::Filesystem& files,
                                    const std::string& folder,
                                    const Upload& list,
                                    uint64_t max_header_bytes) {
  Tensors tensors;
  uint64_t num_bytes = 0;
  for (const UploadFile& file : list.files()) {
    if (!absl::EndsWith(file.path(), ".safetensors")) continue;
    const auto header = model::formats::ReadSafetensorsHeader(
        files, base::JoinPath(folder, file.path()), file.path());
    if (!header.ok()) return NotRight(header.status());
    num_bytes += header->num_bytes;
    if (num_bytes > max_header_bytes) {
      return NotRight(
          file.path(),
          absl::StrCat("with it the headers of the folder's safetensors files "
                       "have ",
                       num_bytes, " bytes, more than ", max_header_bytes,
                       "; write the weights with fewer or shorter names"));
    }
    std::set<std::string>& names = tensors[file.path()];
    for (const auto& entry : header->entries) names.insert(entry.name);
  }
  return tensors;
}

// The object of the index that gives each tensor its file.
absl::StatusOr<Json> ReadWeightMap(base::Filesystem& files,
                                   const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(const Json index,
                        ReadJson(files, folder, kIndexFile, kMaxIndexBytes));
  const auto map = index.find("weight_map");
  if (map == index.end() || !map->is_object() || map->empty()) {
    return NotRight(kIndexFile,
                    "it has no object 'weight_map' of tensors and files");
  }
  return *map;
}

// Every tensor is where the index says, and every file is one of the index's.
absl::Status CheckIndex(const Json& weight_map, Tensors tensors) {
  for (const auto& [tensor, file] : weight_map.items()) {
    const auto found = file.is_string() ? tensors.find(file.get<std::string>())
                                        : tensors.end();
    if (found == tensors.end()) {
      return NotRight(kIndexFile,
                      absl::StrCat("the file of tensor '", tensor, "', ",
                                   file.dump(), ", is not one of the upload"));
    }
    if (found->second.erase(tensor) == 0) {
      return NotRight(found->first,
                      absl::StrCat("tensor '", tensor, "' is missing; ",
                                   kIndexFile, " says it is there"));
    }
  }
  for (const auto& [file, left] : tensors) {
    if (left.empty() || file == kOptimizerFile) continue;
    return NotRight(file, absl::StrCat("tensor '", *left.begin(),
                                       "' is not in ", kIndexFile));
  }
  return absl::OkStatus();
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

// state.json of a checkpoint that Ordo has written.
absl::Status ReadState(base::Filesystem& files, const std::string& folder,
                       FolderContents* contents) {
  ORDO_ASSIGN_OR_RETURN(const Json state,
                        ReadJson(files, folder, kStateFile, kMaxJsonBytes));
  const auto step = state.find("step");
  if (step == state.end() || !step->is_number_unsigned()) {
    return NotRight(kStateFile, "step: required, a number of steps");
  }
  contents->step = step->get<int64_t>();
  if (contents->step < 0) return NotRight(kStateFile, "step: is too large");
  contents->state_digest = TextOf(state, "state_digest");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FolderContents> CheckFolder(base::Filesystem& files,
                                           const std::string& folder,
                                           const Upload& list,
                                           uint64_t max_header_bytes) {
  FolderContents contents;
  ORDO_ASSIGN_OR_RETURN(const Json config,
                        ReadJson(files, folder, kConfigFile, kMaxJsonBytes));
  auto parsed =
      model::formats::ParseConfigFile(config.dump(), nullptr, kConfigFile);
  if (!parsed.ok()) return ConfigNotRight(parsed.status(), config);
  contents.model = std::move(parsed->config.model);
  contents.encoding = std::move(parsed->config.encoding);
  contents.data = std::move(parsed->config.data);
  contents.model_type = TextOf(config, "model_type");
  ORDO_ASSIGN_OR_RETURN(Tensors tensors,
                        ReadHeaders(files, folder, list, max_header_bytes));
  std::set<std::string> paths;
  for (const UploadFile& file : list.files()) paths.insert(file.path());
  if (paths.count(kIndexFile) > 0) {
    ORDO_ASSIGN_OR_RETURN(const Json weight_map, ReadWeightMap(files, folder));
    ORDO_RETURN_IF_ERROR(CheckIndex(weight_map, std::move(tensors)));
  }
  if (paths.count(kStateFile) > 0) {
    ORDO_RETURN_IF_ERROR(ReadState(files, folder, &contents));
  }
  return contents;
}

absl::StatusOr<std::set<std::string>> FilesOfIndex(base::Filesystem& files,
                                                   const std::string& folder) {
  ORDO_ASSIGN_OR_RETURN(const Json weight_map, ReadWeightMap(files, folder));
  std::set<std::string> names;
  for (const auto& [tensor, file] : weight_map.items()) {
    if (!file.is_string()) {
      return NotRight(kIndexFile, absl::StrCat("the file of tensor '", tensor,
                                               "' is ", file.dump()));
    }
    names.insert(file.get<std::string>());
  }
  return names;
}

}  // namespace ordo::services::checkpoints
