#ifndef ORDO_MODEL_TRAINING_INITIAL_VALUES_H_
#define ORDO_MODEL_TRAINING_INITIAL_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/transformer/transformer.h"
#include "nlohmann/json.hpp"

// What a run begins with, so that others can say whether they began with the
// same. Each parameter's first values are a function of the seed, its name and
// its shape (model/parameters), so models of one seed that differ in their
// encodings share all others.

namespace ordo::model::training {

struct InitialValue {
  std::vector<int64_t> shape;
  // Lower-case hex SHA-256 over type and bytes of the values.
  std::string sha256;
};

// By the parameter's name; empty: not known.
using InitialValues = std::map<std::string, InitialValue>;

// Of the values that the parameters have now, those of the encoding aside.
// Throws what LibTorch throws.
InitialValues DigestValues(const transformer::Transformer& model);

// Lower-case hex SHA-256 over names, shapes and digests; empty where they are
// not known.
std::string CombinedDigest(const InitialValues& values);

// {"digest": ..., "parameters": {NAME: {"shape": [...], "sha256": ...}, ...}}
nlohmann::ordered_json ToJson(const InitialValues& values);

// Throws Json::exception where a part is missing.
InitialValues InitialValuesOf(const nlohmann::ordered_json& json);

}  // namespace ordo::model::training

#endif  // ORDO_MODEL_TRAINING_INITIAL_VALUES_H_
