#ifndef ORDO_MODEL_FORMATS_FAMILIES_H_
#define ORDO_MODEL_FORMATS_FAMILIES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/formats/config_keys.h"
#include "model/formats/tensor_names.h"
#include "proto/ordo/training/v1/component.pb.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Kinds of models that Hugging Face's files know, by `model_type`: how their
// config.json reads as a model and an encoding here, and back, and what their
// tensors are called. Written from the format's documentation and the papers;
// the values of keys that a file may leave out are those of the library.

namespace ordo::model::formats {

// Not resolved; fields that keep their default are left out.
struct ForeignConfig {
  ordo::training::v1::Model model;
  ordo::training::v1::Component encoding;
};

// What every kind says, under these keys; the first of several is written.
struct SharedKeys {
  std::vector<const char*> layers;
  std::vector<const char*> width;
  std::vector<const char*> heads;
  const char* norm_epsilon;
  // Of a file that leaves them out.
  double default_norm_epsilon;
  bool default_tied;
};
void ReadShared(const SharedKeys& shared, ConfigKeys* keys,
                ordo::training::v1::Model* model);
Json WriteShared(const SharedKeys& shared,
                 const ordo::training::v1::Model& model);

// The configuration, or what the keys say is wrong with it.
absl::StatusOr<ForeignConfig> Finished(const ForeignConfig& config,
                                       const ConfigKeys& keys);

struct Family {
  std::string model_type;
  // As config.json's `architectures` names it.
  std::string architecture;
  // Without `given`, the encoding that the file says; with it, that one, and
  // what the file says of positions decides nothing. INVALID_ARGUMENT names the
  // key that has no equivalent.
  absl::StatusOr<ForeignConfig> (*read)(
      const Json& json, const ordo::training::v1::Component* given);
  // The keys for a resolved model without a FieldOfNoFamily; nothing where this
  // kind does not compute the same from the same weights.
  std::optional<Json> (*write)(const ordo::training::v1::Model& model,
                               const ordo::training::v1::Component& encoding);
  // Null: tensors have the names and layouts of Ordo.
  TensorNames (*names)() = nullptr;
};

// llama, mistral, qwen2, qwen3, gpt2, gpt_neox, bloom, mpt.
const std::vector<Family>& Families();

// Nullptr when it is not known.
const Family* FindFamily(const std::string& model_type);

// A field of a resolved model whose value no kind has, such as `post_norm`;
// empty where there is none, which is not to say that one kind has them all.
std::string FieldOfNoFamily(const ordo::training::v1::Model& model);

// The first kind that computes what a resolved model does, or nullptr.
const Family* FamilyOf(const ordo::training::v1::Model& model,
                       const ordo::training::v1::Component& encoding);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_FAMILIES_H_
