#include "model/formats/weights.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/status/status.h"
#include "base/text/json_depth.h"
#include "model/training/safetensors.h"
#include "nlohmann/json.hpp"

namespace ordo::model::formats {
namespace {

using Json = nlohmann::json;

// An entry for each tensor of a large model.
constexpr size_t kMaxIndexBytes = 64 << 20;

absl::Status Damaged(const std::string& path, const std::string& what) {
  return absl::DataLossError(absl::StrCat("read ", path, ": ", what));
}

// A file of the folder itself.
bool IsFileName(const std::string& name) {
  return absl::EndsWith(name, ".safetensors") && !absl::StrContains(name, "/");
}

// Names of tensors by file.
using Shards = std::map<std::string, std::set<std::string>>;

absl::StatusOr<Shards> ReadIndex(base::Filesystem& files,
                                 const std::string& path) {
  ORDO_ASSIGN_OR_RETURN(const std::string text,
                        base::ReadFile(files, path, kMaxIndexBytes));
  if (base::NestsTooDeep(text)) return Damaged(path, "it is nested too deep");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") ||
      !json["weight_map"].is_object()) {
    return Damaged(path, "it has no object 'weight_map'");
  }
  Shards shards;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    if (!file.is_string() || !IsFileName(file.get<std::string>())) {
      return Damaged(path, absl::StrCat("weight_map: the file of '", tensor,
                                        "' must be a .safetensors file of "
                                        "the same folder, is ",
                                        file.dump()));
    }
    shards[file.get<std::string>()].insert(tensor);
  }
  if (shards.empty()) return Damaged(path, "weight_map is empty");
  return shards;
}

}  // namespace

absl::StatusOr<TensorMap> ReadWeights(base::Filesystem& files,
                                      const std::string& folder) {
  const std::string whole = base::JoinPath(folder, kWeightsFile);
  const std::string index = base::JoinPath(folder, kIndexFile);
  if (base::Exists(files, whole) || !base::Exists(files, index)) {
    return training::ReadSafetensors(files, whole);
  }
  ORDO_ASSIGN_OR_RETURN(const Shards shards, ReadIndex(files, index));
  TensorMap all;
  for (const auto& [name, tensors] : shards) {
    const std::string path = base::JoinPath(folder, name);
    ORDO_ASSIGN_OR_RETURN(TensorMap shard,
                          training::ReadSafetensors(files, path));
    for (const std::string& tensor : tensors) {
      if (shard.count(tensor) == 0) {
        return Damaged(path, absl::StrCat("tensor '", tensor, "' is missing; ",
                                          kIndexFile, " says it is there"));
      }
    }
    for (auto& [tensor, value] : shard) {
      if (tensors.count(tensor) == 0) {
        return Damaged(
            path, absl::StrCat("tensor '", tensor, "' is not in ", kIndexFile));
      }
      all.emplace(tensor, std::move(value));
    }
  }
  return all;
}

}  // namespace ordo::model::formats
