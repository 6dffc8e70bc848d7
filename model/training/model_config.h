#ifndef ORDO_MODEL_TRAINING_MODEL_CONFIG_H_
#define ORDO_MODEL_TRAINING_MODEL_CONFIG_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/formats/config_file.h"
#include "model/transformer/transformer.h"
#include "proto/ordo/training/v1/spec.pb.h"

// config.json: what a checkpoint's model is, in Hugging Face's keys where they
// exist, so that other tools read a Llama-like model, and whole under the key
// "ordo".

namespace ordo::model::training {

inline constexpr char kModelFile[] = "model.safetensors";
using formats::kConfigFile;
using formats::ModelConfig;

// The file's content; a pure function of `config`, which is resolved.
std::string WriteModelConfig(const ModelConfig& config);

// Reads a config.json of Ordo or, without the key "ordo", of a kind of model
// that model/formats knows.
// `path` is for messages. DATA_LOSS when it is not JSON, INVALID_ARGUMENT when
// the model is of a kind that cannot be rebuilt.
absl::StatusOr<ModelConfig> ParseModelConfig(const std::string& text,
                                             const std::string& path);

// A model with the weights of a checkpoint's folder.
struct LoadedModel {
  ModelConfig config;
  std::unique_ptr<transformer::Transformer> transformer;
};

struct LoadOptions {
  // Takes the place of that of config.json unless it is null.
  const ordo::training::v1::Component* encoding = nullptr;
  // Where the model's parameters are to lie.
  c10::Device device = c10::Device(c10::DeviceType::CPU);
};

// Rebuilds the model of `folder` from config.json and model.safetensors (or the
// files of its index) alone; the manifest is checked where there is one, and
// against `manifest_sha256` unless that is empty. A checkpoint that was thinned
// is as good. Errors name the file.
absl::StatusOr<LoadedModel> LoadModel(base::Filesystem& files,
                                      const std::string& folder,
                                      const std::string& manifest_sha256,
                                      const LoadOptions& options = {});

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_MODEL_CONFIG_H_
