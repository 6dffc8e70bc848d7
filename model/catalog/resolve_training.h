#ifndef ORDO_MODEL_CATALOG_RESOLVE_TRAINING_H_
#define ORDO_MODEL_CATALOG_RESOLVE_TRAINING_H_

#include <string_view>

#include "model/catalog/fields.h"
#include "proto/ordo/training/v1/spec.pb.h"

// How a model is trained and when it is written, resolved as in resolve.h.

namespace ordo::model::catalog {

// `ranks` is how many ranks divide a batch.
void ResolveTraining(std::string_view field, int ranks,
                     ordo::training::v1::Training* training,
                     Violations* violations);

void ResolveCheckpointPolicy(std::string_view field,
                             ordo::training::v1::CheckpointPolicy* policy,
                             Violations* violations);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_RESOLVE_TRAINING_H_
