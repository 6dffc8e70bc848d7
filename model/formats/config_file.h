#ifndef ORDO_MODEL_FORMATS_CONFIG_FILE_H_
#define ORDO_MODEL_FORMATS_CONFIG_FILE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/formats/families.h"
#include "proto/ordo/training/v1/spec.pb.h"

// config.json of a folder with weights. Without LibTorch: a server that takes
// such a folder reads it too.

namespace ordo::model::formats {

inline constexpr char kConfigFile[] = "config.json";
// Where Ordo's own files say everything.
inline constexpr char kOwnKey[] = "ordo";

// What a model is and was trained on. `data` is unset for a model that Ordo has
// not trained.
struct ModelConfig {
  ordo::training::v1::Model model;
  ordo::training::v1::Component encoding;
  ordo::training::v1::Data data;
  // Of the adapters that stand beside the weights; unset: none.
  std::optional<ordo::training::v1::Lora> lora = {};
};

// What a config.json says, resolved.
struct ConfigFile {
  ModelConfig config;
  // Null: Ordo's own.
  const Family* family = nullptr;
};

// Reads a config.json of Ordo or, without the key "ordo", of a kind of model
// that families.h knows. `given` takes the place of the file's encoding unless
// it is null. `path` is for messages. DATA_LOSS when it is not JSON,
// INVALID_ARGUMENT, naming the key, when the model is of a kind that cannot be
// rebuilt.
absl::StatusOr<ConfigFile> ParseConfigFile(
    const std::string& text, const ordo::training::v1::Component* given,
    const std::string& path);

// The same for the file of a folder.
absl::StatusOr<ConfigFile> ReadConfigFile(
    base::Filesystem& files, const std::string& folder,
    const ordo::training::v1::Component* given);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_CONFIG_FILE_H_
