#include "model/encodings/testing/examples.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/yaml/text_form.h"
#include "model/catalog/catalog.h"

namespace ordo::model::encodings::testing {

using ordo::training::v1::Component;

Component FromText(const std::string& yaml) {
  Component component;
  const auto status =
      base::ReadMessage(yaml, base::TextForm::kYaml, &component);
  ORDO_CHECK(status.ok()) << yaml << ": " << status.ToString();
  return component;
}

void PrintTo(const Example& example, std::ostream* out) {
  *out << example.label;
}

Component Simplest(const std::string& name) {
  const auto* entry = catalog::Find(catalog::Kind::kEncoding, name);
  ORDO_CHECK(entry != nullptr) << name;
  Component component;
  component.set_name(name);
  for (int i = 0; i < entry->min_with; ++i) {
    *component.add_with() = Simplest(entry->with.front());
  }
  return component;
}

std::vector<Example> Examples() {
  std::vector<Example> all;
  for (const auto family : {BiasExamples, CombiningExamples, ContentExamples,
                            InputExamples, RotaryExamples, StateExamples}) {
    std::vector<Example> examples = family();
    std::move(examples.begin(), examples.end(), std::back_inserter(all));
  }
  for (const auto* entry : catalog::EntriesOf(catalog::Kind::kEncoding)) {
    const bool listed = std::any_of(
        all.begin(), all.end(),
        [&](const Example& example) { return example.label == entry->name; });
    if (!listed) all.push_back({entry->name, Simplest(entry->name)});
  }
  return all;
}

}  // namespace ordo::model::encodings::testing
