#ifndef ORDO_MODEL_CATALOG_FINE_TUNING_H_
#define ORDO_MODEL_CATALOG_FINE_TUNING_H_

#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// What of a recipe is for fine-tuning: adapters, the parts that train, sparse
// attention. As in resolve.h.

namespace ordo::model::catalog {

// The parts of a model that a recipe may let train: "embeddings" and so on.
const std::vector<std::string>& ModelParts();

// Checks and defaults of lora, trainable and shifted_sparse.
void ResolveFineTuning(std::string_view field,
                       ordo::training::v1::Training* training,
                       Violations* violations);

// Appends what of them, which ResolveFineTuning has accepted, does not fit a
// resolved model.
void CheckFineTuning(std::string_view field,
                     const ordo::training::v1::Training& training,
                     const ordo::training::v1::Model& model,
                     Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_FINE_TUNING_H_
