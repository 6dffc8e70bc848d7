#include "model/training/recipe.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/yaml/text_form.h"
#include "nlohmann/json.hpp"

namespace ordo::model::training {
namespace {

// Keys of an object are sorted.
using Json = nlohmann::json;
using ordo::training::v1::TrainSpec;

Json Recipe(const TrainSpec& spec) {
  TrainSpec recipe;
  *recipe.mutable_model() = spec.model();
  *recipe.mutable_encoding() = spec.encoding();
  *recipe.mutable_data() = spec.data();
  *recipe.mutable_training() = spec.training();
  recipe.mutable_training()->clear_log_every_steps();
  return Json::parse(base::WriteMessage(recipe, base::TextForm::kJson), nullptr,
                     /*allow_exceptions=*/false);
}

void Compare(const std::string& path, const Json& before, const Json& now,
             std::vector<std::string>* differences) {
  if (before == now) return;
  if (!before.is_object() || !now.is_object()) {
    const auto text = [](const Json& value) {
      if (value.is_null()) return std::string("not set");
      return value.is_string() ? value.get<std::string>() : value.dump();
    };
    differences->push_back(
        absl::StrCat(path, " was ", text(before), " and is ", text(now)));
    return;
  }
  std::set<std::string> keys;
  for (const auto& [key, value] : before.items()) keys.insert(key);
  for (const auto& [key, value] : now.items()) keys.insert(key);
  for (const std::string& key : keys) {
    Compare(path.empty() ? key : absl::StrCat(path, ".", key),
            before.value(key, Json()), now.value(key, Json()), differences);
  }
}

}  // namespace

std::string RecipeText(const TrainSpec& spec) { return Recipe(spec).dump(); }

std::vector<std::string> RecipeDifferences(const TrainSpec& before,
                                           const TrainSpec& now) {
  std::vector<std::string> differences;
  Compare("", Recipe(before), Recipe(now), &differences);
  return differences;
}

}  // namespace ordo::model::training
