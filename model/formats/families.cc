#include "model/formats/families.h"

#include <utility>

#include "model/formats/gpt.h"
#include "model/formats/llama.h"

namespace ordo::model::formats {

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

const Family* FamilyOf(const ordo::training::v1::Model& model,
                       const ordo::training::v1::Component& encoding) {
  for (const Family& family : Families()) {
    if (family.write(model, encoding)) return &family;
  }
  return nullptr;
}

}  // namespace ordo::model::formats
