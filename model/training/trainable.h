#ifndef ORDO_MODEL_TRAINING_TRAINABLE_H_
#define ORDO_MODEL_TRAINING_TRAINABLE_H_

#include <string>

#include "proto/ordo/training/v1/spec.pb.h"

// Which parameters a recipe lets train, by their names.

namespace ordo::model::training {

// What `part` of a parameter that belongs to an adapter is.
inline constexpr char kAdapterPart[] = "adapters";

// The part of a model that a parameter belongs to: one of catalog::ModelParts,
// or kAdapterPart. Whatever is neither a norm nor a projection is the
// encoding's.
std::string PartOf(const std::string& name);

// Whether the recipe, which is resolved, lets the parameter train.
bool Trains(const ordo::training::v1::Training& training,
            const std::string& name);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_TRAINABLE_H_
