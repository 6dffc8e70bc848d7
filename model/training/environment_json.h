#ifndef ORDO_MODEL_TRAINING_ENVIRONMENT_JSON_H_
#define ORDO_MODEL_TRAINING_ENVIRONMENT_JSON_H_

#include "model/training/numerics.h"
#include "nlohmann/json.hpp"

// An Environment as checkpoints hold it and ranks tell it each other.

namespace ordo::model::training {

nlohmann::ordered_json ToJson(const Environment& environment);

// Members that older programs did not write have their default values. Throws
// nlohmann::json::exception when it is something else.
Environment EnvironmentOf(const nlohmann::ordered_json& json);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_ENVIRONMENT_JSON_H_
