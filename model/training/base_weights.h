#ifndef ORDO_MODEL_TRAINING_BASE_WEIGHTS_H_
#define ORDO_MODEL_TRAINING_BASE_WEIGHTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"
#include "model/training/model_config.h"
#include "model/transformer/transformer.h"

// Weights that a run takes from a model that has been trained before.

namespace ordo::model::training {

// What was not the same in both models, by name, sorted.
struct TakenWeights {
  // The encoding's and the adapters' parameters that keep their initial values.
  std::vector<std::string> fresh;
  // The base's parameters that this model does not have.
  std::vector<std::string> left;
};

// Copies the weights of `base` into `model`, where the architecture is the same
// and only the encoding may be another; adapters of the base are merged first.
// INVALID_ARGUMENT names what of the architecture differs; nothing has changed
// then.
absl::StatusOr<TakenWeights> TakeWeights(LoadedModel* base,
                                         const transformer::Transformer& model);

// Merges the adapters of `model` and writes it without them, as a folder with
// config.json, model.safetensors and MANIFEST.json, durable.
absl::Status WriteMerged(base::Filesystem& files, const std::string& folder,
                         LoadedModel* model);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_BASE_WEIGHTS_H_
