#include "model/formats/families.h"

#include <utility>

#include "model/formats/gpt.h"
#include "model/formats/llama.h"

namespace ordo::model::formats {

using ordo::training::v1::Component;
using ordo::training::v1::Model;

void ReadShared(const SharedKeys& shared, ConfigKeys* keys, Model* model) {
  model->set_layers(keys->Integer(shared.layers));
  model->set_width(keys->Integer(shared.width));
  model->set_heads(keys->Integer(shared.heads));
  model->set_vocabulary_size(keys->Integer({"vocab_size"}));
  model->set_norm_epsilon(
      keys->NumberOr({shared.norm_epsilon}, shared.default_norm_epsilon));
  model->set_tie_embeddings(
      keys->BoolOr("tie_word_embeddings", shared.default_tied));
}

Json WriteShared(const SharedKeys& shared, const Model& model) {
  Json json;
  json[shared.layers.front()] = model.layers();
  json[shared.width.front()] = model.width();
  json[shared.heads.front()] = model.heads();
  json["vocab_size"] = model.vocabulary_size();
  json[shared.norm_epsilon] = model.norm_epsilon();
  json["initializer_range"] = model.init_std();
  json["tie_word_embeddings"] = model.tie_embeddings();
  return json;
}

absl::StatusOr<ForeignConfig> Finished(const ForeignConfig& config,
                                       const ConfigKeys& keys) {
  const absl::Status status = keys.Finish();
  if (!status.ok()) return status;
  return config;
}

const std::vector<Family>& Families() {
  static const auto* const families = [] {
    auto* all = new std::vector<Family>(LlamaFamilies());
    for (Family& family : GptFamilies()) all->push_back(std::move(family));
    return all;
  }();
  return *families;
}

const Family* FindFamily(const std::string& model_type) {
  for (const Family& family : Families()) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

std::string FieldOfNoFamily(const Model& model) {
  if (model.mlp() == "geglu") return "mlp";
  if (model.post_norm()) return "post_norm";
  if (model.input_noise() > 0) return "input_noise";
  if (model.output_mlp()) return "output_mlp";
  return model.output_projection() ? "output_projection" : "";
}

const Family* FamilyOf(const Model& model, const Component& encoding) {
  if (!FieldOfNoFamily(model).empty()) return nullptr;
  for (const Family& family : Families()) {
    if (family.write(model, encoding)) return &family;
  }
  return nullptr;
}

}  // namespace ordo::model::formats
