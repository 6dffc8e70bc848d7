#ifndef ORDO_MODEL_TRAINING_RECIPE_H_
#define ORDO_MODEL_TRAINING_RECIPE_H_

#include <string>
#include <vector>

#include "proto/ordo/training/v1/spec.pb.h"

// The part of a specification that decides a run's numbers: model, encoding,
// data and training, seeds included, without how often it is logged.

namespace ordo::model::training {

// Equal for equal recipes. `spec` is resolved.
std::string RecipeText(const ordo::training::v1::TrainSpec& spec);

// What differs, by field: "training.learning_rate was 0.1 and is 0.2". Empty
// when the recipes are equal.
std::vector<std::string> RecipeDifferences(
    const ordo::training::v1::TrainSpec& before,
    const ordo::training::v1::TrainSpec& now);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_RECIPE_H_
